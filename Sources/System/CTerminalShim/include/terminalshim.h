#ifndef SHAPEEDIT_TERMINALSHIM_H
#define SHAPEEDIT_TERMINALSHIM_H

#include <stddef.h>

/* What has to work inside signal handlers: one terminal whose settings are given back however the
   process ends. One thread calls these; the handlers may interrupt it anywhere. Functions that
   return int give 0, or -1 with errno set. */

/* Keeps the settings of descriptor and makes it raw. */
int shim_terminal_enter(int descriptor);
/* Raw again, after somebody else changed the settings; the kept ones stay. EIO in the background if a
   signal has asked the process to end. */
int shim_terminal_reenter(void);
/* What is written to the terminal before it is given back; at most 511 bytes. */
int shim_terminal_set_leaving(const char *text, size_t count);
/* Gives the terminal back, once. Safe in handlers. */
void shim_terminal_leave(void);
/* Stops the job as Ctrl-Z does, with the terminal given back; raw again when it goes on. */
int shim_terminal_suspend(void);
/* Stops the process alone, with the terminal as it is: another one of the job has that. */
int shim_terminal_stop(void);

/* Whether two descriptors are of one terminal. */
int shim_terminal_is_same(int first, int second);
/* Whether the terminal is another job's now: to change its settings would stop us. */
int shim_terminal_is_background(int descriptor);

/* Installs handlers. Signals that end, stop, resume or resize arrive as bytes at the descriptor
   returned, those of crashes give the terminal back and then do what they do. After a signal that
   ends, the process has so many seconds before it dies of it. */
int shim_terminal_watch(unsigned grace_seconds);
/* Ends the process by a signal, as if it had not been caught. Does not return. */
void shim_terminal_die(int signal);

/* Columns, rows, and the pixels of both (0 if unknown). */
int shim_terminal_size(int descriptor, int size[4]);

#endif
