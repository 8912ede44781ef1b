#include "curlshim.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

CURLcode curlshim_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode curlshim_set_offset(CURL *handle, CURLoption option, int64_t value) {
    return curl_easy_setopt(handle, option, (curl_off_t)value);
}

CURLcode curlshim_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode curlshim_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode curlshim_set_callbacks(CURL *handle, void *context, curlshim_data write,
                                curlshim_data header, curlshim_data read, curlshim_seek seek) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SEEKDATA, context);
    return code;
}

long curlshim_get_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

CURLcode curlshim_set_error_buffer(CURL *handle, char *buffer) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

int64_t curlshim_get_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? (int64_t)value : 0;
}

int64_t curlshim_get_acknowledged(CURL *handle) {
    curl_socket_t connection = CURL_SOCKET_BAD;
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &connection) != CURLE_OK
        || connection == CURL_SOCKET_BAD
        || getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return (int64_t)info.tcpi_bytes_acked;
}
