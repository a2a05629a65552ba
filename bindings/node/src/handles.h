// Handles that a worker opened. It may end, or be terminated, with open ones: its JavaScript,
// finalizers included, does not run any more then, and nobody else knows them. On the main thread
// nothing is noted: they end with the process, which is not to wait for them.
#pragma once

#include <vector>

namespace varve_node {

using CloseHandle = void (*)(void* handle);

/** From now on this thread, a worker's, notes what it opens. */
void note_handles();
void note_opened(void* handle, CloseHandle close);
void note_closed(void* handle);
/** Closes what is still open, and tells what that was. */
std::vector<const void*> close_opened();

}  // namespace varve_node
