// Strings of JavaScript from UTF-8.
#pragma once

#define NAPI_VERSION 8
#include <node_api.h>

#include <cstddef>

namespace varve_node {

/**
 * As napi_create_string_utf8, several times as fast for long texts: most are ASCII as a whole or in
 * long stretches, which the engines' decoder takes byte by byte.
 */
napi_status create_string(napi_env env, const char* data, size_t size, napi_value* result);

/**
 * Whether a text of JSON may have an integer beyond 2^53: 16 digits or more between marks of JSON.
 * Looks at every 16th byte only. A string in it may look like one; that costs time, nothing else.
 */
bool may_have_long_integer(const char* text, size_t size);

}  // namespace varve_node
