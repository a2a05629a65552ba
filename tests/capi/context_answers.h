// What the tests of contexts read from an answer, and the turns that they are made of.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "client.h"

namespace varve_test {

inline std::string text_of(const Answer& context) {
  EXPECT_TRUE(context.ok()) << context.outcome;
  return context.ok() ? std::string(context.object().at("text").as_string()) : "";
}

// Ids of the items in the order of the text, with blanks between.
inline std::string ids_of(const Answer& context) {
  EXPECT_TRUE(context.ok()) << context.outcome;
  std::string ids;
  if (!context.ok()) return ids;
  const json::object answer = context.object();
  for (const auto& item : answer.at("items").as_array()) {
    ids += (ids.empty() ? "" : " ") + std::string(item.as_object().at("id").as_string());
  }
  return ids;
}

inline int64_t number(const Answer& context, std::string_view member) {
  return context.object().at(member).to_number<int64_t>();
}

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Empty where it is null or not there.
inline std::string text_in(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value == nullptr || value->is_null() ? std::string() : std::string(value->as_string());
}

inline std::string told_message(const json::object& message) {
  const std::string said = text_in(message, "content");
  std::string line = text_in(message, "role");
  for (const std::string_view name : {"name", "tool_call_id"}) {
    if (message.contains(name)) line += " " + text_in(message, name);
  }
  if (!message.contains("tool_calls")) return line + ": " + said;
  EXPECT_TRUE(message.at("content").is_null() || !said.empty());
  line = said.empty() ? "" : line + ": " + said;
  for (const auto& one : message.at("tool_calls").as_array()) {
    const json::object& call = one.as_object();
    const json::object& function = call.at("function").as_object();
    EXPECT_EQ(text_in(call, "type"), "function");
    line += (line.empty() ? "> " : "\n> ") + text_in(call, "id") + " " + text_in(function, "name") +
            " " + text_in(function, "arguments");
  }
  return line;
}

// A context for chats: a line for each message, "role: content", and for each call "> id tool
// arguments", behind what is said beside it.
inline std::string told_chat(const json::array& messages) {
  std::string told;
  for (const auto& message : messages) {
    told += (told.empty() ? "" : "\n") + told_message(message.as_object());
  }
  return told;
}

// One entry of a conversation, `minute` minutes into the day.
inline std::string turn(const std::string& id, int minute, const std::string& role,
                        const std::string& message, const std::string& more = "") {
  const std::string time = "2026-01-05T" + std::to_string(10 + minute / 60) + ":" +
                           (minute % 60 < 10 ? "0" : "") + std::to_string(minute % 60) + ":00Z";
  return R"({"id":")" + id + R"(","type":"message","timestamp":")" + time + R"(","content":)" +
         json::serialize(json::object{{"role", role}, {"message", message}}) + more + "}";
}

}  // namespace varve_test
