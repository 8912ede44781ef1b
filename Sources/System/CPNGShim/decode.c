#include <png.h>
#include <string.h>

#include "pngshim.h"

int shim_png_size(const uint8_t *bytes, size_t count, uint32_t *width, uint32_t *height) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return -1;
    *width = image.width;
    *height = image.height;
    png_image_free(&image);
    return 0;
}

int shim_png_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                    uint32_t *pixels) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return -1;
    if (image.width != width || image.height != height) {
        png_image_free(&image);
        return -1;
    }
    /* Without alpha in the format, libpng puts the picture over the colour given. */
    image.format = PNG_FORMAT_RGB;
    const png_color white = {255, 255, 255};
    uint8_t *rows = (uint8_t *)pixels;
    /* Three bytes a pixel, at the end of the room for four: they are spread from the front. */
    uint8_t *packed = rows + (size_t)width * height;
    if (!png_image_finish_read(&image, &white, packed, 0, NULL)) return -1;
    for (size_t index = 0; index < (size_t)width * height; index++) {
        const uint8_t *from = packed + 3 * index;
        const uint32_t pixel =
            0xFF000000u | (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
        memcpy(rows + 4 * index, &pixel, 4);
    }
    return 0;
}
