// JSON of a test as a tree.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "json/tree.h"

namespace varve::transfer {

inline json::Tree parsed(std::string_view text) {
  auto tree = json::Tree::parse(text);
  EXPECT_TRUE(tree.ok()) << text;
  return tree.ok() ? *tree : json::Tree();
}

}  // namespace varve::transfer
