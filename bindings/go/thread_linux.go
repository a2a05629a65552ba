package varve

import "syscall"

// threadID tells the present thread from all others that there are.
func threadID() int { return syscall.Gettid() }
