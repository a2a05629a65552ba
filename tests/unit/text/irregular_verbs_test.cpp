#include "text/irregular_verbs.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace varve::text {
namespace {

// Forms, and the base they belong to.
const std::vector<std::pair<std::string, std::string>> kVerbs = {
    {"arose arisen", "arise"},
    {"awoke awoken", "awake"},
    {"became", "become"},
    {"began begun", "begin"},
    {"bent", "bend"},
    {"bitten", "bite"},
    {"bled", "bleed"},
    {"blew blown", "blow"},
    {"broke broken", "break"},
    {"bred", "breed"},
    {"brought", "bring"},
    {"built", "build"},
    {"burnt", "burn"},
    {"bought", "buy"},
    {"caught", "catch"},
    {"chose chosen", "choose"},
    {"clung", "cling"},
    {"came", "come"},
    {"crept", "creep"},
    {"dealt", "deal"},
    {"dug", "dig"},
    {"drew drawn", "draw"},
    {"dreamt", "dream"},
    {"drank drunk", "drink"},
    {"drove driven", "drive"},
    {"ate eaten", "eat"},
    {"fell fallen", "fall"},
    {"fed", "feed"},
    {"felt", "feel"},
    {"fought", "fight"},
    {"found", "find"},
    {"fled", "flee"},
    {"flew flown", "fly"},
    {"forbade forbidden", "forbid"},
    {"forgot forgotten", "forget"},
    {"forgave forgiven", "forgive"},
    {"froze frozen", "freeze"},
    {"got gotten", "get"},
    {"gave given", "give"},
    {"went gone", "go"},
    {"grew grown", "grow"},
    {"hung", "hang"},
    {"heard", "hear"},
    {"hid hidden", "hide"},
    {"held", "hold"},
    {"kept", "keep"},
    {"knelt", "kneel"},
    {"knew known", "know"},
    {"laid", "lay"},
    {"led", "lead"},
    {"leant", "lean"},
    {"learnt", "learn"},
    {"left", "leave"},
    {"lent", "lend"},
    {"lain", "lie"},
    {"lit", "light"},
    {"lost", "lose"},
    {"made", "make"},
    {"meant", "mean"},
    {"met", "meet"},
    {"overcame", "overcome"},
    {"paid", "pay"},
    {"proven", "prove"},
    {"rode ridden", "ride"},
    {"rang rung", "ring"},
    {"risen", "rise"},
    {"ran", "run"},
    {"said", "say"},
    {"saw seen", "see"},
    {"sought", "seek"},
    {"sold", "sell"},
    {"sent", "send"},
    {"sewn", "sew"},
    {"shook shaken", "shake"},
    {"shone", "shine"},
    {"shown", "show"},
    {"shrank shrunk", "shrink"},
    {"sang sung", "sing"},
    {"sank sunk", "sink"},
    {"sat", "sit"},
    {"slept", "sleep"},
    {"slid", "slide"},
    {"smelt", "smell"},
    {"spoke spoken", "speak"},
    {"sped", "speed"},
    {"spelt", "spell"},
    {"spent", "spend"},
    {"spilt", "spill"},
    {"spun", "spin"},
    {"sprang sprung", "spring"},
    {"stood", "stand"},
    {"stole stolen", "steal"},
    {"stuck", "stick"},
    {"stung", "sting"},
    {"struck", "strike"},
    {"strove striven", "strive"},
    {"swore sworn", "swear"},
    {"swept", "sweep"},
    {"swollen", "swell"},
    {"swam swum", "swim"},
    {"swung", "swing"},
    {"took taken", "take"},
    {"taught", "teach"},
    {"tore torn", "tear"},
    {"told", "tell"},
    {"thought", "think"},
    {"threw thrown", "throw"},
    {"underwent undergone", "undergo"},
    {"understood", "understand"},
    {"undertook undertaken", "undertake"},
    {"woke woken", "wake"},
    {"wore worn", "wear"},
    {"wove woven", "weave"},
    {"wept", "weep"},
    {"won", "win"},
    {"withdrew withdrawn", "withdraw"},
    {"wrote written", "write"},
    {"rebuilt", "rebuild"},
    {"rewrote rewritten", "rewrite"},
    {"foresaw foreseen", "foresee"},
};

TEST(IrregularVerbs, EveryFormHasItsBase) {
  size_t count = 0;
  for (const auto& [forms, base] : kVerbs) {
    std::istringstream words(forms);
    for (std::string form; words >> form; ++count) EXPECT_EQ(verb_base(form), base) << form;
    EXPECT_EQ(verb_base(base), base) << "a base stays";
  }
  EXPECT_EQ(count, 167u);
}

TEST(IrregularVerbs, OtherWordsStay) {
  for (const auto word : {"", "a", "zzz", "house", "Went", "wen", "wents", "went "}) {
    EXPECT_EQ(verb_base(word), word);
  }
}

TEST(IrregularVerbs, FormsThatAreMoreCommonAsOtherWordsStay) {
  for (const auto word : {"ground", "bound", "rose", "wound", "shot", "bit"}) {
    EXPECT_EQ(verb_base(word), word);
  }
}

}  // namespace
}  // namespace varve::text
