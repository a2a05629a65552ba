# bash completion for varve(1); needs nothing but bash.

# Sets `words` to those up to the cursor as varve gets them, --NAME=VALUE as two. Bash takes words
# apart at = and at the : of times.
_varve_words() {
  local i word
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == '=' && $i -gt 0 && ${COMP_WORDS[i - 1]} == --* ]]; then
      ((i < COMP_CWORD)) || words+=('')
    elif ((i > 0)) && [[ $word == ':' || ${COMP_WORDS[i - 1]} == ':' ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
}

# What the shell makes of a word as it was typed: without quotes, ~ as the home directory. What it
# would have to run, a variable or a command, stays as it is.
_varve_unquoted() {
  local word=$1 plain='' quote='' i
  if [[ $word == '~' || $word == '~/'* ]]; then
    plain=$HOME
    word=${word:1}
  fi
  for ((i = 0; i < ${#word}; i++)); do
    case $quote${word:i:1} in
      \' | \" | "''" | '""')
        [[ -n $quote ]] && quote='' || quote=${word:i:1}
        ;;
      \\ | '"\')
        ((i++))
        plain+=${word:i:1}
        ;;
      *) plain+=${word:i:1} ;;
    esac
  done
  printf '%s' "$plain"
}

# The word behind the last --NAME or -LETTER before the cursor; empty when there is none.
_varve_option_value() {
  local i
  for ((i = ${#words[@]} - 2; i > 0; i--)); do
    if [[ ${words[i - 1]} == "$1" || ${words[i - 1]} == "$2" ]]; then
      _varve_unquoted "${words[i]}"
      return
    fi
  done
}

_varve_run() {
  local root
  root=$(_varve_option_value --root -r)
  command varve ${root:+--root "$root"} --quiet "$@" 2>/dev/null
}

_varve() {
  local commands='create ls metadata drop add get log delete forget kv transcript search explain
    count tags context chat-log import export backup restore verify repair compact purge sweep
    migrate index stats usage files metrics watch version'
  local global='--root --session --json --quiet --verbose --durability --color --progress --help
    --version'
  local takes_value=' -r --root -s --session --durability --color --progress --user --agent --title
    --ttl-hours --options --set -n --limit --after -t --type --tag --ref --importance
    --role --id --timestamp --expires-at --reason -f --format -o --output --exclude-tag --since
    --until --min-importance --related --relation --depth --query --where --text --sort
    -i --interval --by --count --reapply-deletions --evict-below --tokens
    --reserve --pin --exclude --also --now --request --vector-file --vector-weight '
  local words
  _varve_words
  local current=${words[-1]} previous=${words[-2]}
  local command='' operands=() i word
  COMPREPLY=()

  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if [[ $word == -* && $word != - ]]; then
      [[ $takes_value == *[[:space:]]"$word"[[:space:]]* ]] && ((i++))
      # --all takes a folder only for import.
      [[ $command == import && $word == --all ]] && ((i++))
    elif [[ -z $command ]]; then
      command=$word
    else
      operands+=("$word")
    fi
  done

  case $previous in
    -r | --root | --reapply-deletions)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    -o | --output | --vector-file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    -s | --session | --also)
      mapfile -t COMPREPLY < <(compgen -W "$(_varve_run ls --limit 1000)" -- "$current")
      return
      ;;
    --durability)
      mapfile -t COMPREPLY < <(compgen -W 'commit interval os' -- "$current")
      return
      ;;
    --color | --progress)
      mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current")
      return
      ;;
    --sort)
      mapfile -t COMPREPLY < <(compgen -W 'best relevance match time importance' -- "$current")
      return
      ;;
    --by)
      mapfile -t COMPREPLY < <(compgen -W 'session agent user day' -- "$current")
      return
      ;;
    -f | --format)
      local formats='jsonl json markdown'
      [[ $command == import ]] && formats='auto jsonl json mcp chat'
      [[ $command == context ]] && formats='markdown chat json plain'
      mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$current")
      return
      ;;
    -t | --type)
      mapfile -t COMPREPLY < <(compgen -W 'conversation decision finding preference message
        tool_call tool_result observation summary document' -- "$current")
      return
      ;;
    --all)
      if [[ $command == import ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        return
      fi
      ;;
    *)
      if [[ $takes_value == *[[:space:]]"$previous"[[:space:]]* ]]; then
        return
      fi
      ;;
  esac

  if [[ -z $command ]]; then
    if [[ $current == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$global" -- "$current")
    else
      mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
    fi
    return
  fi

  if [[ $command == help && $current != -* ]]; then
    ((${#operands[@]} > 0)) || mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
    return
  fi

  local conditions='--type --tag --exclude-tag --since --until --min-importance --related --relation
    --depth'
  local options=''
  case $command in
    create) options='--user --agent --title --ttl-hours --options --if-missing' ;;
    ls) options='--limit --after --all --user --agent --rescan' ;;
    metadata) options='--set' ;;
    drop) options='--yes' ;;
    add)
      options='--type --tag --ref --importance --role --id --timestamp --expires-at --json-entry
        --jsonl --create'
      ;;
    transcript) options='--limit' ;;
    context)
      options='--tokens --reserve --format --pin --exclude --all --user --agent --also --now
        --request'
      ;;
    chat-log) options='--limit --type' ;;
    log) options="$conditions --limit --oneline --full --reverse" ;;
    delete | forget) options="$conditions --where --text --reason --yes" ;;
    search)
      options="$conditions --query --question --all --user --agent --sort --limit --after
        --vector-file --vector-weight --explain"
      ;;
    explain)
      options="$conditions --query --question --all --user --agent --sort --limit --after
        --vector-file --vector-weight"
      ;;
    count) options="$conditions --query --question --all --user --agent" ;;
    import) options='--all --format --dry-run --no-create' ;;
    export) options="$conditions --query --format --output --all" ;;
    backup) options='--keep-missing --delete-missing' ;;
    restore) options='--overwrite --reapply-deletions' ;;
    verify) options='--all --deep' ;;
    stats) options='--all' ;;
    usage) options='--by --user --agent --since --until' ;;
    repair) options='--all --dry-run --accept-edits' ;;
    compact) options='--all --dry-run --evict-below' ;;
    purge | migrate) options='--all --dry-run' ;;
    index) options='--all --rebuild' ;;
    watch) options='--interval --count --once' ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options $global" -- "$current")
    return
  fi

  if [[ $command == kv || $command == transcript ]]; then
    local actions='set get delete list'
    [[ $command == transcript ]] && actions='append last'
    if ((${#operands[@]} == 0)); then
      mapfile -t COMPREPLY < <(compgen -W "$actions" -- "$current")
      return
    fi
    operands=("${operands[@]:1}")
  fi

  local session
  session=$(_varve_option_value --session -s)
  [[ -n $session ]] && operands=("$session" "${operands[@]}")
  case $command:${#operands[@]} in
    create:* | ls:* | version:* | metrics:* | sweep:* | search:* | explain:* | count:*) ;;
    context:*) ;;
    backup:0 | restore:0)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      ;;
    *:0 | backup:* | restore:* | usage:*)
      mapfile -t COMPREPLY < <(compgen -W "$(_varve_run ls --limit 1000)" -- "$current")
      ;;
    get:* | delete:* | forget:*)
      mapfile -t COMPREPLY < <(
        compgen -W "$(_varve_run log "${operands[0]}" --limit 100)" -- "$current"
      )
      ;;
    import:*)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
  esac
}

complete -F _varve varve
