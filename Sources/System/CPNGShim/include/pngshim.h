#ifndef SHAPEEDIT_PNGSHIM_H
#define SHAPEEDIT_PNGSHIM_H

#include <stddef.h>
#include <stdint.h>

/* libpng reports errors by longjmp, which must not cross Swift frames: every call that may fail is
   made here, below a setjmp of its own. A function that returns 0 has succeeded. */

typedef struct shim_png shim_png;

/* Takes compressed bytes; any value but 0 stops the encoding. */
typedef int (*shim_png_sink)(void *context, const uint8_t *bytes, size_t count);

/* Starts an 8-bit RGB picture with filter NONE. NULL if memory or the sink fails. */
shim_png *shim_png_begin(uint32_t width, uint32_t height, int level, shim_png_sink sink,
                         void *context);

/* Adds whole rows of 0x..RRGGBB values in the machine's byte order, without gaps. */
int shim_png_rows(shim_png *png, const uint32_t *pixels, size_t rows);

/* Writes the end of the file; all rows must have been given. */
int shim_png_end(shim_png *png);

void shim_png_free(shim_png *png);

/* The size of a PNG file; nothing is decoded. */
int shim_png_size(const uint8_t *bytes, size_t count, uint32_t *width, uint32_t *height);

/* Decodes a PNG file of that size into width * height values 0xFFRRGGBB in the machine's byte order,
   over white where it is clear. */
int shim_png_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                    uint32_t *pixels);

#endif
