#ifndef SHAPEEDIT_TURN_H
#define SHAPEEDIT_TURN_H

#include <stddef.h>
#include <sys/types.h>

/* Which thread reads the next request from the kernel.

   One thread at a time has the turn. It takes a request, gives the turn back, answers, and takes the turn
   again for the next: as long as requests take no time one thread does all of them, and none has to be woken
   for each, which costs more than most of them. The others sleep. One of them comes where the turn would
   stay free while requests wait:
   - at once when a request was taken that is known to take long (`turn_call`), or when requests have queued up
     for a while;
   - otherwise after two ticks of the watch, a thread of its own that looks whether somebody has the turn. It
     ticks as long as there are requests, and a few ticks more.
   So whatever a handler waits for, the next request is read, while there is a thread left.

   Who has the turn and finds no request looks again and again for as long as a client takes from one to the
   next, before it sleeps in the kernel; unless that was in vain several times. */

/* Before the first request, without other threads in `turn_read`. From now on the descriptor does not block.
   0 or a negative errno. */
int turn_start(int device);

/* Ends the watch. After all threads have left `turn_read` or were cancelled there. */
void turn_end(void);

/* As read(2) of a request: waits for the turn, then for a request. A cancellation point. */
ssize_t turn_read(int device, void *buffer, size_t length);

/* Has another thread take the turn, if one sleeps: by who took a request that may take long. */
void turn_call(void);

#endif
