#include "pngshim.h"

#include <endian.h>
#include <libdeflate.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* Pictures of so many bytes, as the largest thumbnails are, are held and compressed at once by libdeflate,
   which takes two thirds of the time of zlib for a smaller file; larger ones, beside whose strip they would be
   most of what a picture takes, are compressed row by row. */
static const size_t held_limit = 1024 * (3 * 1024 + 1);

struct shim_png {
    png_structp png;
    png_infop info;
    uint32_t width;
    int level;
    shim_png_sink sink;
    void *context;
    /* One row, or all rows with the byte of their filter. */
    uint8_t *row;
    /* All of it if the picture is held, else 0; and how much is there. */
    size_t held, filled;
};

static void write_bytes(png_structp png, png_bytep bytes, size_t count) {
    shim_png *self = png_get_io_ptr(png);
    if (self->sink(self->context, bytes, count) != 0) png_error(png, "the sink refused");
}

static void flush_bytes(png_structp png) { (void)png; }

/* Silent: the caller learns by the return value, and nothing may write to standard error. */
static void fail(png_structp png, png_const_charp text) {
    (void)text;
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

shim_png *shim_png_begin(uint32_t width, uint32_t height, int level, shim_png_sink sink,
                         void *context) {
    shim_png *self = calloc(1, sizeof *self);
    if (self == NULL) return NULL;
    self->width = width;
    self->level = level;
    self->sink = sink;
    self->context = context;
    size_t line = (size_t)width * 3;
    if (height <= held_limit / (line + 1)) self->held = (line + 1) * height;
    self->row = malloc(self->held != 0 ? self->held : line);
    self->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, warn);
    if (self->png != NULL) self->info = png_create_info_struct(self->png);
    if (self->row == NULL || self->info == NULL) {
        shim_png_free(self);
        return NULL;
    }
    if (setjmp(png_jmpbuf(self->png)) != 0) {
        shim_png_free(self);
        return NULL;
    }
    png_set_write_fn(self->png, self, write_bytes, flush_bytes);
    png_set_compression_level(self->png, level);
    png_set_filter(self->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(self->png, self->info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_set_sRGB(self->png, self->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(self->png, self->info);
    return self;
}

/* Red, green, blue, four bytes at a time: four pixels are three words, the first byte highest. Byte
   by byte this took a twelfth of the time of a slide's picture. */
static void pack_row(uint8_t *target, const uint32_t *source, uint32_t width) {
    uint32_t x = 0;
    for (; width - x >= 4; x += 4, source += 4, target += 12) {
        uint32_t a = source[0] & 0xffffff, b = source[1] & 0xffffff, c = source[2] & 0xffffff,
                 d = source[3] & 0xffffff;
        uint32_t words[3] = {htobe32(a << 8 | b >> 16), htobe32(b << 16 | c >> 8),
                             htobe32(c << 24 | d)};
        memcpy(target, words, sizeof words);
    }
    for (; x < width; x++, source++, target += 3) {
        target[0] = (uint8_t)(*source >> 16);
        target[1] = (uint8_t)(*source >> 8);
        target[2] = (uint8_t)*source;
    }
}

static int hold_rows(shim_png *self, const uint32_t *pixels, size_t rows) {
    size_t line = (size_t)self->width * 3 + 1;
    if (rows > (self->held - self->filled) / line) return -1;
    for (size_t y = 0; y < rows; y++) {
        uint8_t *target = self->row + self->filled;
        target[0] = PNG_FILTER_VALUE_NONE;
        pack_row(target + 1, pixels + y * self->width, self->width);
        self->filled += line;
    }
    return 0;
}

/* The compressed rows, to be freed; NULL if there is no memory. */
static uint8_t *compress_held(shim_png *self, size_t *count) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(self->level);
    if (compressor == NULL) return NULL;
    size_t room = libdeflate_zlib_compress_bound(compressor, self->held);
    uint8_t *result = malloc(room);
    if (result != NULL)
        *count = libdeflate_zlib_compress(compressor, self->row, self->held, result, room);
    libdeflate_free_compressor(compressor);
    return result;
}

static int end_held(shim_png *self) {
    if (self->filled != self->held) return -1;
    size_t count = 0;
    uint8_t *bytes = compress_held(self, &count);
    if (bytes == NULL) return -1;
    if (setjmp(png_jmpbuf(self->png)) != 0) {
        free(bytes);
        return -1;
    }
    png_write_chunk(self->png, (png_const_bytep) "IDAT", bytes, count);
    png_write_chunk(self->png, (png_const_bytep) "IEND", NULL, 0);
    free(bytes);
    return 0;
}

int shim_png_rows(shim_png *self, const uint32_t *pixels, size_t rows) {
    if (self->held != 0) return hold_rows(self, pixels, rows);
    if (setjmp(png_jmpbuf(self->png)) != 0) return -1;
    for (size_t y = 0; y < rows; y++) {
        pack_row(self->row, pixels + y * self->width, self->width);
        png_write_row(self->png, self->row);
    }
    return 0;
}

int shim_png_end(shim_png *self) {
    if (self->held != 0) return end_held(self);
    if (setjmp(png_jmpbuf(self->png)) != 0) return -1;
    png_write_end(self->png, self->info);
    return 0;
}

void shim_png_free(shim_png *self) {
    if (self == NULL) return;
    if (self->png != NULL) png_destroy_write_struct(&self->png, &self->info);
    free(self->row);
    free(self);
}
