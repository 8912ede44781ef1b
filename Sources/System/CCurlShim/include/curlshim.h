#ifndef SHAPEEDIT_CURLSHIM_H
#define SHAPEEDIT_CURLSHIM_H

#include <curl/curl.h>
#include <stdint.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot import: one function for
   each type of value. Each returns curl's code. */

CURLcode curlshim_set_long(CURL *handle, CURLoption option, long value);
CURLcode curlshim_set_offset(CURL *handle, CURLoption option, int64_t value);
/* curl copies the string; NULL sets the option back. */
CURLcode curlshim_set_string(CURL *handle, CURLoption option, const char *value);
/* The list must outlive the transfer. */
CURLcode curlshim_set_list(CURL *handle, CURLoption option, struct curl_slist *value);

typedef size_t (*curlshim_data)(char *bytes, size_t size, size_t count, void *context);
typedef int (*curlshim_seek)(void *context, curl_off_t offset, int origin);

/* What curl calls with bytes of the answer, with its header lines, for bytes of the request and to
   go back in them; each is handed context. */
CURLcode curlshim_set_callbacks(CURL *handle, void *context, curlshim_data write,
                                curlshim_data header, curlshim_data read, curlshim_seek seek);

/* At least CURL_ERROR_SIZE bytes, which must outlive the handle. */
CURLcode curlshim_set_error_buffer(CURL *handle, char *buffer);

/* 0 where curl does not know. */
long curlshim_get_long(CURL *handle, CURLINFO info);
int64_t curlshim_get_offset(CURL *handle, CURLINFO info);

/* Bytes that the other side of the handle's connection has acknowledged since it began, which it has not read
   for that; 0 where there is none. */
int64_t curlshim_get_acknowledged(CURL *handle);

#endif
