#ifndef SHAPEEDIT_ASKCHILD_H
#define SHAPEEDIT_ASKCHILD_H

#include <sys/types.h>

/* Starts a process that reads a file and writes its bytes into a pipe. It exits with 0, or the error
   number of what failed. Nobody is told of its end by a signal, and only waitpid with __WALL finds it.

   Returns the end of the pipe to read from, closed on exec, and the process in *child; -1 and errno if
   it cannot start. */
int shim_read_in_child(const char *path, pid_t *child);

#endif
