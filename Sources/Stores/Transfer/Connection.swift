internal import CCurl
internal import CCurlShim

/// A curl handle with its connections, which are kept alive. Used by one thread at a time.
final class Connection: @unchecked Sendable {
    // Unchecked because a pool hands it from thread to thread, never to two at once.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Bodies of so many bytes are sent with their heads, whether the server will take them or not.
    private static let unannounced: Int64 = 64 * 1024

    let easy: UnsafeMutableRawPointer
    let multi: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// How often a handle may have connected that is used again.
    private static let mostConnects = 4
    private var connects = 0

    init(_ trust: TrustedAuthorities) {
        precondition(Self.isReady, "libcurl could not be started")
        guard let easy = curl_easy_init(), let multi = curl_multi_init() else {
            preconditionFailure("no memory for a connection")
        }
        self.easy = easy
        self.multi = multi
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        curlshim_set_error_buffer(easy, errorText)
        curlshim_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it, giving up would wait for a name that is being looked up.
        curlshim_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        curlshim_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        curlshim_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        curlshim_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        curlshim_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        // Each connection keeps so much. A quarter of it takes a tenth more of the processor's time.
        curlshim_set_long(easy, CURLOPT_BUFFERSIZE, 256 * 1024)
        curlshim_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, 128 * 1024)
        curlshim_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        curlshim_set_string(easy, CURLOPT_USERAGENT, "ShapeEdit")
        if let file = trust.file {
            curlshim_set_string(easy, CURLOPT_CAINFO, file)
            // Otherwise those of the machine would be believed as well.
            curlshim_set_string(easy, CURLOPT_CAPATH, nil)
        }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_multi_cleanup(multi)
        errorText.deallocate()
    }

    /// Counts how often the last transfer connected.
    func noteTransfer() { connects += curlshim_get_long(easy, CURLINFO_NUM_CONNECTS) }

    /// The handle is to be used no more.
    ///
    /// Where a server closes a kept connection in the moment of the next request, curl connects anew, but
    /// only five times in the life of a handle: it never forgets that it did, and takes the sixth for a
    /// server that does not answer.
    var isWorn: Bool { connects > Self.mostConnects }

    /// curl's own words for the last failure.
    func reason(_ code: CURLcode) -> String {
        let words = String(cString: errorText)
        // It repeats a proxy that it cannot use with the password in it.
        let reason =
            words.isEmpty || words.contains("@")
            ? String(cString: curl_easy_strerror(code)) : words
        return code == CURLE_PEER_FAILED_VERIFICATION && reason.contains("certificate problem")
            ? reason + "; the address may name an authority of its own (ca=FILE)" : reason
    }

    /// Sets everything that differs from request to request.
    ///
    /// - Returns: the header lines, to be freed with `curl_slist_free_all` after the transfer.
    func configure(_ request: HTTPRequest, _ exchange: Exchange, _ timeouts: Timeouts)
        -> UnsafeMutablePointer<curl_slist>?
    {
        errorText.pointee = 0
        // Going back to GET also forgets an upload and a HEAD of the request before.
        curlshim_set_long(easy, CURLOPT_HTTPGET, 1)
        curlshim_set_string(easy, CURLOPT_CUSTOMREQUEST, nil)
        curlshim_set_string(easy, CURLOPT_URL, request.url)
        curlshim_set_long(
            easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(timeouts.connect * 1000)))
        // A request that breaks off on a kept connection is sent again by curl, which tells nobody. A removal
        // may be carried out all the same, and later than all that followed.
        let isRemoval = request.method == "DELETE"
        curlshim_set_long(easy, CURLOPT_FRESH_CONNECT, isRemoval ? 1 : 0)
        curlshim_set_long(easy, CURLOPT_FORBID_REUSE, isRemoval ? 1 : 0)
        if let size = exchange.bodySize {
            curlshim_set_long(easy, CURLOPT_UPLOAD, 1)
            curlshim_set_offset(easy, CURLOPT_INFILESIZE_LARGE, size)
            curlshim_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
        } else if request.method == "HEAD" {
            curlshim_set_long(easy, CURLOPT_NOBODY, 1)
        } else {
            curlshim_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
        }
        curlshim_set_string(easy, CURLOPT_USERNAME, request.login?.credentials.identity)
        curlshim_set_string(easy, CURLOPT_PASSWORD, request.login?.credentials.secret)
        let schemes =
            switch request.login?.scheme {
            case nil: 0
            case .basic: 1
            case .digest: 2
            case .unknown: 3
            }
        curlshim_set_long(easy, CURLOPT_HTTPAUTH, schemes == 0 ? 1 : schemes)
        var lines: UnsafeMutablePointer<curl_slist>?
        for (name, value) in request.headers {
            lines = curl_slist_append(lines, "\(name): \(value)")
        }
        // curl would ask first whether the body is welcome, and wait a second for servers that do not say:
        // for each folder of a listing.
        if let size = exchange.bodySize, size <= Self.unannounced {
            lines = curl_slist_append(lines, "Expect:")
        }
        curlshim_set_list(easy, CURLOPT_HTTPHEADER, lines)
        curlshim_set_callbacks(
            easy, Unmanaged.passUnretained(exchange).toOpaque(),
            { bytes, size, count, context in
                guard let context else { return 0 }
                let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                let all = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return exchange.takeBody(all) ? all.count : Int(bitPattern: UInt.max)
            },
            { bytes, size, count, context in
                guard let context else { return 0 }
                let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                let all = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return exchange.takeHeadLine(all) ? all.count : 0
            },
            { bytes, size, count, context in
                guard let context else { return Int(CURL_READFUNC_ABORT) }
                let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                let all = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                return exchange.giveBody(all) ?? Int(CURL_READFUNC_ABORT)
            },
            { context, offset, origin in
                guard let context, origin == 0 else { return CURL_SEEKFUNC_CANTSEEK }
                Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                    .rewind(to: Int64(offset))
                return CURL_SEEKFUNC_OK
            })
        return lines
    }
}
