# fish completion for varve(1)

# The words before the cursor that are neither options nor values of options, from the command on.
# With names as arguments the last value that one of these options has, instead.
function __varve_words
    set -l takes_value -r --root -s --session --durability --color --progress --user --agent \
        --title --ttl-hours --options --set -n --limit --after -t --type --tag --ref \
        --importance --role --id --timestamp --expires-at --reason -f --format -o --output \
        --exclude-tag --since --until --min-importance --related --relation --depth --query \
        --where --text --sort -i --interval --by --count --reapply-deletions --evict-below \
        --tokens --reserve --pin --exclude --also --now --request --vector-file --vector-weight
    set -l words
    set -l value
    set -l option
    for word in (commandline -opc)[2..-1]
        if test -n "$option"
            contains -- $option $argv; and set value $word
            set option
        else if contains -- $word $takes_value
            set option $word
        else if test "$word" = --all -a "$words[1]" = import
            set option $word # a folder, only there
        else if string match --quiet -- '--*=*' $word
            set -l pair (string split --max 1 = -- $word)
            contains -- $pair[1] $argv; and set value $pair[2]
        else if not string match --quiet -- '-?*' $word
            set -a words $word
        end
    end
    if test -n "$argv"
        string replace --regex -- '^~(?=/|$)' $HOME $value # as the shell does when it runs it
    else
        string join \n -- $words
    end
end

function __varve_run
    set -l root (__varve_words --root -r)
    if test -n "$root"
        command varve --root $root --quiet $argv 2>/dev/null
    else
        command varve --quiet $argv 2>/dev/null
    end
end

function __varve_sessions
    __varve_run ls --limit 1000
end

function __varve_entries
    set -l session (__varve_words --session -s)
    test -n "$session"; or set session (__varve_words)[2]
    test -n "$session"; and __varve_run log $session --limit 100
end

# How many words there are behind the command, with a session that an option names.
function __varve_operands
    set -l words (__varve_words)
    set -l session (__varve_words --session -s)
    math (count $words $session) - 1
end

# The command is the first word: another may be called like one, as in `kv get` and `help kv`.
function __varve_is
    set -l words (__varve_words)
    test "$words[1]" = $argv[1]
end

function __varve_at
    __varve_is $argv[1]; and test (__varve_operands) -eq $argv[2]
end

set -l commands create ls metadata drop add get log delete forget kv transcript \
    search explain count tags context chat-log import export backup restore verify repair \
    compact purge sweep migrate index stats usage files metrics watch version

complete -c varve -f

complete -c varve -s r -l root -x -a '(__fish_complete_directories)' -d 'The store\'s directory'
complete -c varve -s s -l session -x -a '(__varve_sessions)' -d 'The session'
complete -c varve -s j -l json -d 'Print JSON, errors too'
complete -c varve -s q -l quiet -d 'Only results and errors'
complete -c varve -s v -l verbose -d 'Also print the library\'s log lines'
complete -c varve -l durability -x -a 'commit interval os' -d 'When to answer'
complete -c varve -l color -x -a 'auto always never' -d 'Colour'
complete -c varve -l progress -x -a 'auto always never' -d 'Progress bar'
complete -c varve -s h -l help -d 'Explain the program, or a command'
complete -c varve -s V -l version -d 'Show the versions'

set -l none "not __fish_seen_subcommand_from $commands"
complete -c varve -n $none -a create -d 'create a session'
complete -c varve -n $none -a ls -d 'list the sessions'
complete -c varve -n $none -a metadata -d 'show or change a session\'s metadata'
complete -c varve -n $none -a drop -d 'delete a whole session'
complete -c varve -n $none -a add -d 'add an entry'
complete -c varve -n $none -a get -d 'show entries by their ids'
complete -c varve -n $none -a log -d 'show the latest entries, newest first'
complete -c varve -n $none -a delete -d 'delete entries, by id or by conditions'
complete -c varve -n $none -a forget -d 'another name for delete'
complete -c varve -n $none -a kv -d 'keep small facts by key'
complete -c varve -n $none -a transcript -d 'keep what was said, in order'
complete -c varve -n $none -a search -d 'find entries by words, tag, type, time'
complete -c varve -n $none -a explain -d 'show how a search is done'
complete -c varve -n $none -a count -d 'count the entries that a search finds'
complete -c varve -n $none -a tags -d 'show the tags and how many entries have them'
complete -c varve -n $none -a context -d 'show what a model would be given for a question'
complete -c varve -n $none -a chat-log -d 'show a session as a conversation'
complete -c varve -n $none -a import -d 'add entries from files'
complete -c varve -n $none -a export -d 'write a session out'
complete -c varve -n $none -a backup -d 'copy the store into a directory'
complete -c varve -n $none -a restore -d 'bring sessions back from a backup'
complete -c varve -n $none -a verify -d 'look for damage'
complete -c varve -n $none -a repair -d 'set damage aside'
complete -c varve -n $none -a compact -d 'rewrite the log without what is gone'
complete -c varve -n $none -a purge -d 'remove deleted and expired entries for good'
complete -c varve -n $none -a sweep -d 'remove sessions and entries that have expired'
complete -c varve -n $none -a migrate -d 'rewrite logs of an earlier version'
complete -c varve -n $none -a index -d 'show or rebuild the index'
complete -c varve -n $none -a stats -d 'show figures'
complete -c varve -n $none -a usage -d 'show tokens and cost'
complete -c varve -n $none -a files -d 'list a session\'s files'
complete -c varve -n $none -a metrics -d 'show figures for monitoring'
complete -c varve -n $none -a watch -d 'show what happens, live'
complete -c varve -n $none -a version -d 'show the versions'

for command in metadata drop add get log delete forget tags chat-log import export verify repair \
        compact purge migrate index stats files watch
    complete -c varve -n "__varve_at $command 0" -a '(__varve_sessions)'
end
for command in get delete forget
    complete -c varve -n "__varve_is $command; and test (__varve_operands) -gt 0" \
        -a '(__varve_entries)'
end
complete -c varve -n '__fish_seen_subcommand_from import' -F
for command in backup restore
    complete -c varve -n "__varve_at $command 0" -x -a '(__fish_complete_directories)'
    complete -c varve -n "__fish_seen_subcommand_from $command; and test (__varve_operands) -gt 0" \
        -a '(__varve_sessions)'
end

complete -c varve -n '__varve_at kv 0' -a 'set get delete list'
complete -c varve -n '__varve_at transcript 0' -a 'append last'
for command in kv transcript
    complete -c varve -n "__varve_at $command 1" -a '(__varve_sessions)'
end

set -l types "conversation decision finding preference message tool_call tool_result" \
    "observation summary document"

set -l seen '__fish_seen_subcommand_from create'
complete -c varve -n $seen -l user -x -d 'The user that the session belongs to'
complete -c varve -n $seen -l agent -x -d 'The agent that the session belongs to'
complete -c varve -n $seen -l title -x -d 'What the session is about'
complete -c varve -n $seen -l ttl-hours -x -d 'Hours after which it expires'
complete -c varve -n $seen -l options -x -d 'More creation options as JSON'
complete -c varve -n $seen -l if-missing -d 'Succeed if it already exists'

set -l seen '__fish_seen_subcommand_from ls'
complete -c varve -n $seen -s n -l limit -x -d 'Sessions per page'
complete -c varve -n $seen -l after -x -d 'Continue after this cursor'
complete -c varve -n $seen -s a -l all -d 'All pages'
complete -c varve -n $seen -l user -x -d 'Only sessions of this user'
complete -c varve -n $seen -l agent -x -d 'Only sessions of this agent'
complete -c varve -n $seen -l rescan -d 'Scan the directories first'

set -l seen '__fish_seen_subcommand_from metadata'
complete -c varve -n $seen -l set -x -d 'Change it first: a JSON merge patch'

set -l seen '__fish_seen_subcommand_from drop'
complete -c varve -n $seen -s y -l yes -d 'Do not ask'

set -l seen '__fish_seen_subcommand_from add'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Kind of entry'
complete -c varve -n $seen -l tag -x -d 'A tag'
complete -c varve -n $seen -l ref -x -d 'Id of an entry that this one refers to'
complete -c varve -n $seen -l importance -x -d 'From 0 to 1'
complete -c varve -n $seen -l role -x -a 'user assistant' -d 'Who says it'
complete -c varve -n $seen -l id -x -d 'The entry\'s id'
complete -c varve -n $seen -l timestamp -x -d 'When it happened'
complete -c varve -n $seen -l expires-at -x -d 'When the entry expires'
complete -c varve -n $seen -l json-entry -d 'The text is a whole entry as JSON'
complete -c varve -n $seen -l jsonl -d 'The text is JSON lines of entries'
complete -c varve -n $seen -l create -d 'Create the session if it does not exist'

set -l seen '__fish_seen_subcommand_from log'
complete -c varve -n $seen -s n -l limit -x -d 'At most this many entries'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Only this type'
complete -c varve -n $seen -l tag -x -d 'Only entries with this tag'
complete -c varve -n $seen -l exclude-tag -x -d 'No entries with this tag'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'
complete -c varve -n $seen -l min-importance -x -d 'Only entries of at least this importance'
complete -c varve -n $seen -l related -x -d 'Only entries related to this one'
complete -c varve -n $seen -l relation -x -d 'Only along relations of this name'
complete -c varve -n $seen -l depth -x -d 'Within this many steps'
complete -c varve -n $seen -l oneline -d 'One line for each entry'
complete -c varve -n $seen -l full -d 'Do not cut long contents'
complete -c varve -n $seen -l reverse -d 'Show the oldest of them first'

set -l seen '__fish_seen_subcommand_from transcript'
complete -c varve -n $seen -s n -l limit -x -d 'At most this many turns'

set -l seen '__fish_seen_subcommand_from delete forget'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Only this type'
complete -c varve -n $seen -l tag -x -d 'Only entries with this tag'
complete -c varve -n $seen -l exclude-tag -x -d 'No entries with this tag'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'
complete -c varve -n $seen -l min-importance -x -d 'Only entries of at least this importance'
complete -c varve -n $seen -l related -x -d 'Only entries related to this one'
complete -c varve -n $seen -l relation -x -d 'Only along relations of this name'
complete -c varve -n $seen -l depth -x -d 'Within this many steps'
complete -c varve -n $seen -l where -x -d 'The whole query as JSON'
complete -c varve -n $seen -l text -x -d 'Only entries with these words'
complete -c varve -n $seen -l reason -x -d 'Why, for the audit log'
complete -c varve -n $seen -s y -l yes -d 'Do not ask'

set -l seen '__fish_seen_subcommand_from search'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Only this type'
complete -c varve -n $seen -l tag -x -d 'Only entries with this tag'
complete -c varve -n $seen -l exclude-tag -x -d 'No entries with this tag'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'
complete -c varve -n $seen -l min-importance -x -d 'Only entries of at least this importance'
complete -c varve -n $seen -l related -x -d 'Only entries related to this one'
complete -c varve -n $seen -l relation -x -d 'Only along relations of this name'
complete -c varve -n $seen -l depth -x -d 'Within this many steps'
complete -c varve -n $seen -l query -x -d 'The whole query as JSON'
complete -c varve -n $seen -l question -d 'The words are what a person asks'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l user -x -d 'Only sessions of this user'
complete -c varve -n $seen -l agent -x -d 'Only sessions of this agent'
complete -c varve -n $seen -l sort -x -a 'best relevance match time importance' -d 'Order'
complete -c varve -n $seen -s n -l limit -x -d 'At most this many results'
complete -c varve -n $seen -l after -x -d 'Continue after this cursor'
complete -c varve -n $seen -l vector-file -r -d 'What is near this vector'
complete -c varve -n $seen -l vector-weight -x -d 'Weight of the vector'
complete -c varve -n $seen -l explain -d 'Also show why each result is where it is'

set -l seen '__fish_seen_subcommand_from explain'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Only this type'
complete -c varve -n $seen -l tag -x -d 'Only entries with this tag'
complete -c varve -n $seen -l exclude-tag -x -d 'No entries with this tag'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'
complete -c varve -n $seen -l min-importance -x -d 'Only entries of at least this importance'
complete -c varve -n $seen -l related -x -d 'Only entries related to this one'
complete -c varve -n $seen -l relation -x -d 'Only along relations of this name'
complete -c varve -n $seen -l depth -x -d 'Within this many steps'
complete -c varve -n $seen -l query -x -d 'The whole query as JSON'
complete -c varve -n $seen -l question -d 'The words are what a person asks'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l user -x -d 'Only sessions of this user'
complete -c varve -n $seen -l agent -x -d 'Only sessions of this agent'
complete -c varve -n $seen -l sort -x -a 'best relevance match time importance' -d 'Order'
complete -c varve -n $seen -s n -l limit -x -d 'At most this many results'
complete -c varve -n $seen -l after -x -d 'Continue after this cursor'
complete -c varve -n $seen -l vector-file -r -d 'What is near this vector'
complete -c varve -n $seen -l vector-weight -x -d 'Weight of the vector'

set -l seen '__fish_seen_subcommand_from count'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Only this type'
complete -c varve -n $seen -l tag -x -d 'Only entries with this tag'
complete -c varve -n $seen -l exclude-tag -x -d 'No entries with this tag'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'
complete -c varve -n $seen -l min-importance -x -d 'Only entries of at least this importance'
complete -c varve -n $seen -l related -x -d 'Only entries related to this one'
complete -c varve -n $seen -l relation -x -d 'Only along relations of this name'
complete -c varve -n $seen -l depth -x -d 'Within this many steps'
complete -c varve -n $seen -l query -x -d 'The whole query as JSON'
complete -c varve -n $seen -l question -d 'The words are what a person asks'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l user -x -d 'Only sessions of this user'
complete -c varve -n $seen -l agent -x -d 'Only sessions of this agent'

set -l seen '__fish_seen_subcommand_from context'
complete -c varve -n $seen -l tokens -x -d 'Tokens of the window'
complete -c varve -n $seen -l reserve -x -d 'Tokens that stay free'
complete -c varve -n $seen -s f -l format -x -a 'markdown chat json plain' -d 'Form of the text'
complete -c varve -n $seen -l pin -x -d 'An entry that comes first'
complete -c varve -n $seen -l exclude -x -d 'An entry to leave out'
complete -c varve -n $seen -s a -l all -d 'Recall from all other sessions, too'
complete -c varve -n $seen -l user -x -d 'Recall from other sessions of this user, too'
complete -c varve -n $seen -l agent -x -d 'Recall from other sessions of this agent, too'
complete -c varve -n $seen -l also -x -a '(__varve_sessions)' -d 'Recall from this session, too'
complete -c varve -n $seen -l now -x -d 'The moment at which ages are computed'
complete -c varve -n $seen -l request -x -d 'The whole request as JSON'

set -l seen '__fish_seen_subcommand_from chat-log'
complete -c varve -n $seen -s n -l limit -x -d 'At most this many turns'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Entries of this type'

set -l seen '__fish_seen_subcommand_from import'
complete -c varve -n $seen -l all -x -a '(__fish_complete_directories)' -d 'Every folder of it'
complete -c varve -n $seen -s f -l format -x -a 'auto jsonl json mcp chat' -d 'Form of the files'
complete -c varve -n $seen -l dry-run -d 'Only report what would be added'
complete -c varve -n $seen -l no-create -d 'Do not create a session'

set -l seen '__fish_seen_subcommand_from export'
complete -c varve -n $seen -s f -l format -x -a 'jsonl json markdown' -d 'Form of the text'
complete -c varve -n $seen -s o -l output -r -F -d 'Write to a file'
complete -c varve -n $seen -s t -l type -x -a "$types" -d 'Only this type'
complete -c varve -n $seen -l tag -x -d 'Only entries with this tag'
complete -c varve -n $seen -l exclude-tag -x -d 'No entries with this tag'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'
complete -c varve -n $seen -l min-importance -x -d 'Only entries of at least this importance'
complete -c varve -n $seen -l related -x -d 'Only entries related to this one'
complete -c varve -n $seen -l relation -x -d 'Only along relations of this name'
complete -c varve -n $seen -l depth -x -d 'Within this many steps'
complete -c varve -n $seen -l query -x -d 'The whole query as JSON'
complete -c varve -n $seen -s a -l all -d 'Every session'

set -l seen '__fish_seen_subcommand_from backup'
complete -c varve -n $seen -l keep-missing -d 'Keep copies of sessions that are gone'
complete -c varve -n $seen -l delete-missing -d 'Remove also those of lost sessions'

set -l seen '__fish_seen_subcommand_from restore'
complete -c varve -n $seen -l overwrite -d 'Replace existing sessions'
complete -c varve -n $seen -l reapply-deletions -x -a '(__fish_complete_directories)' \
    -d 'Apply the deletions of this store, too'

set -l seen '__fish_seen_subcommand_from verify'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l deep -d 'Also compare every list of the index'

set -l seen '__fish_seen_subcommand_from repair'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l dry-run -d 'Only report what would be done'
complete -c varve -n $seen -l accept-edits -d 'Keep lines that somebody edited'

set -l seen '__fish_seen_subcommand_from compact'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l dry-run -d 'Only report what would be done'
complete -c varve -n $seen -l evict-below -x -d 'Also drop live entries of less relevance'

set -l seen '__fish_seen_subcommand_from purge'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l dry-run -d 'Only report what would be done'

set -l seen '__fish_seen_subcommand_from migrate'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l dry-run -d 'Only report what would be done'

set -l seen '__fish_seen_subcommand_from index'
complete -c varve -n $seen -s a -l all -d 'Every session'
complete -c varve -n $seen -l rebuild -d 'Rebuild it from the log'

set -l seen '__fish_seen_subcommand_from stats'
complete -c varve -n $seen -s a -l all -d 'Every session'

set -l seen '__fish_seen_subcommand_from usage'
complete -c varve -n $seen -a '(__varve_sessions)'
complete -c varve -n $seen -l by -x -a 'session agent user day' -d 'A line for each'
complete -c varve -n $seen -l user -x -d 'Only sessions of this user'
complete -c varve -n $seen -l agent -x -d 'Only sessions of this agent'
complete -c varve -n $seen -l since -x -d 'Only entries of this time or later'
complete -c varve -n $seen -l until -x -d 'Only entries before this time'

set -l seen '__fish_seen_subcommand_from watch'
complete -c varve -n $seen -s i -l interval -x -d 'Seconds between two looks'
complete -c varve -n $seen -s n -l count -x -d 'Stop after this many looks'
complete -c varve -n $seen -l once -d 'Look once'
