#include "text/irregular_verbs.h"

#include <algorithm>
#include <array>
#include <utility>

namespace varve::text {

namespace {

using Form = std::pair<std::string_view, std::string_view>;

// Sorted by form. Without forms that are more common as other words: ground, bound, rose, wound,
// shot, bit.
constexpr auto kForms = std::to_array<Form>({
    {"arisen", "arise"}, {"arose", "arise"}, {"ate", "eat"}, {"awoke", "awake"},
    {"awoken", "awake"}, {"became", "become"}, {"began", "begin"}, {"begun", "begin"},
    {"bent", "bend"}, {"bitten", "bite"}, {"bled", "bleed"}, {"blew", "blow"}, {"blown", "blow"},
    {"bought", "buy"}, {"bred", "breed"}, {"broke", "break"}, {"broken", "break"},
    {"brought", "bring"}, {"built", "build"}, {"burnt", "burn"}, {"came", "come"},
    {"caught", "catch"}, {"chose", "choose"}, {"chosen", "choose"}, {"clung", "cling"},
    {"crept", "creep"}, {"dealt", "deal"}, {"drank", "drink"}, {"drawn", "draw"},
    {"dreamt", "dream"}, {"drew", "draw"}, {"driven", "drive"}, {"drove", "drive"},
    {"drunk", "drink"}, {"dug", "dig"}, {"eaten", "eat"}, {"fallen", "fall"}, {"fed", "feed"},
    {"fell", "fall"}, {"felt", "feel"}, {"fled", "flee"}, {"flew", "fly"}, {"flown", "fly"},
    {"forbade", "forbid"}, {"forbidden", "forbid"}, {"foresaw", "foresee"},
    {"foreseen", "foresee"}, {"forgave", "forgive"}, {"forgiven", "forgive"},
    {"forgot", "forget"}, {"forgotten", "forget"}, {"fought", "fight"}, {"found", "find"},
    {"froze", "freeze"}, {"frozen", "freeze"}, {"gave", "give"}, {"given", "give"},
    {"gone", "go"}, {"got", "get"}, {"gotten", "get"}, {"grew", "grow"}, {"grown", "grow"},
    {"heard", "hear"}, {"held", "hold"}, {"hid", "hide"}, {"hidden", "hide"}, {"hung", "hang"},
    {"kept", "keep"}, {"knelt", "kneel"}, {"knew", "know"}, {"known", "know"}, {"laid", "lay"},
    {"lain", "lie"}, {"leant", "lean"}, {"learnt", "learn"}, {"led", "lead"}, {"left", "leave"},
    {"lent", "lend"}, {"lit", "light"}, {"lost", "lose"}, {"made", "make"}, {"meant", "mean"},
    {"met", "meet"}, {"overcame", "overcome"}, {"paid", "pay"}, {"proven", "prove"},
    {"ran", "run"}, {"rang", "ring"}, {"rebuilt", "rebuild"}, {"rewritten", "rewrite"},
    {"rewrote", "rewrite"}, {"ridden", "ride"}, {"risen", "rise"}, {"rode", "ride"},
    {"rung", "ring"}, {"said", "say"}, {"sang", "sing"}, {"sank", "sink"}, {"sat", "sit"},
    {"saw", "see"}, {"seen", "see"}, {"sent", "send"}, {"sewn", "sew"}, {"shaken", "shake"},
    {"shone", "shine"}, {"shook", "shake"}, {"shown", "show"}, {"shrank", "shrink"},
    {"shrunk", "shrink"}, {"slept", "sleep"}, {"slid", "slide"}, {"smelt", "smell"},
    {"sold", "sell"}, {"sought", "seek"}, {"sped", "speed"}, {"spelt", "spell"},
    {"spent", "spend"}, {"spilt", "spill"}, {"spoke", "speak"}, {"spoken", "speak"},
    {"sprang", "spring"}, {"sprung", "spring"}, {"spun", "spin"}, {"stole", "steal"},
    {"stolen", "steal"}, {"stood", "stand"}, {"striven", "strive"}, {"strove", "strive"},
    {"struck", "strike"}, {"stuck", "stick"}, {"stung", "sting"}, {"sung", "sing"},
    {"sunk", "sink"}, {"swam", "swim"}, {"swept", "sweep"}, {"swollen", "swell"},
    {"swore", "swear"}, {"sworn", "swear"}, {"swum", "swim"}, {"swung", "swing"},
    {"taken", "take"}, {"taught", "teach"}, {"thought", "think"}, {"threw", "throw"},
    {"thrown", "throw"}, {"told", "tell"}, {"took", "take"}, {"tore", "tear"}, {"torn", "tear"},
    {"undergone", "undergo"}, {"understood", "understand"}, {"undertaken", "undertake"},
    {"undertook", "undertake"}, {"underwent", "undergo"}, {"went", "go"}, {"wept", "weep"},
    {"withdrawn", "withdraw"}, {"withdrew", "withdraw"}, {"woke", "wake"}, {"woken", "wake"},
    {"won", "win"}, {"wore", "wear"}, {"worn", "wear"}, {"wove", "weave"}, {"woven", "weave"},
    {"written", "write"}, {"wrote", "write"},
});
static_assert(std::is_sorted(kForms.begin(), kForms.end()));

}  // namespace

std::string_view verb_base(std::string_view word) {
  const auto* found = std::lower_bound(
      kForms.begin(), kForms.end(), word,
      [](const Form& form, std::string_view wanted) { return form.first < wanted; });
  return found != kForms.end() && found->first == word ? found->second : word;
}

}  // namespace varve::text
