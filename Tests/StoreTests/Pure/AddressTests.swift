import Model
import Testing

@testable import Stores

/// Reading addresses of stores.
@Suite struct AddressTests {
    private func reason(_ text: String) -> String? {
        do throws(Failure) {
            _ = try StoreAddress(parsing: text)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `a folder`() throws {
        #expect(
            try StoreAddress(parsing: "folder:/srv/my store/") == .folder(path: "/srv/my store"))
        #expect(reason("folder:relative")?.contains("must begin with /") == true)
        #expect(reason("folder:")?.contains("must begin with /") == true)
    }

    @Test func `a bucket at Amazon's`() throws {
        var expected = S3Address(bucket: "blobs", style: .virtual)
        expected.prefix = "a b/c"
        expected.region = "eu-west-1"
        #expect(
            try StoreAddress(parsing: "s3://blobs/a%20b//c/?region=eu-west-1") == .s3(expected))
        // A dot in the name does not fit the certificate of BUCKET.s3.amazonaws.com.
        #expect(
            try StoreAddress(parsing: "s3://my.blobs")
                == .s3(S3Address(bucket: "my.blobs", style: .path)))
    }

    @Test func `a bucket elsewhere, with all options`() throws {
        var expected = S3Address(bucket: "blobs", style: .path)
        expected.endpoint = Origin(isSecure: false, host: "127.0.0.1", port: 8_080)
        expected.profile = "work"
        expected.credentialsFile = "/etc/keys"
        expected.options.authoritiesFile = "/etc/ca.pem"
        expected.options.credentialCommand = ["pass", "show", "s3"]
        let address = try StoreAddress(
            parsing: "s3://blobs?endpoint=http://127.0.0.1:8080&profile=work&credentials=/etc/keys"
                + "&ca=/etc/ca.pem&credential-command=pass%20show%20s3")
        #expect(address == .s3(expected))
        #expect(address.description == "s3://blobs at http://127.0.0.1:8080")
    }

    @Test func `the port that a scheme has anyway is left out, as it is in what is signed`() throws
    {
        for (text, port) in [
            ("http://h.example:80", nil), ("https://h.example:443", nil),
            ("http://h.example:443", 443), ("https://h.example:80", 80),
        ] as [(String, Int?)] {
            guard case .s3(let address) = try StoreAddress(parsing: "s3://blobs?endpoint=\(text)")
            else { return }
            #expect(address.endpoint?.port == port, "\(text)")
        }
        #expect(
            try StoreAddress(parsing: "davs://h.example:443/x").description == "davs://h.example/x")
    }

    @Test func `a collection`() throws {
        var expected = WebDAVAddress(
            origin: Origin(isSecure: true, host: "[::1]", port: 8_443), path: "/a b/c")
        expected.user = "me"
        #expect(try StoreAddress(parsing: "davs://me@[::1]:8443/a%20b/c/") == .webDAV(expected))
        #expect(
            try StoreAddress(parsing: "dav://Host.Example").description == "dav://host.example")
    }

    @Test func `schemes may be written in capitals, and have one form in which they are kept`()
        throws
    {
        for (text, usual) in [
            ("S3://blobs?endpoint=HTTP://h", "s3://blobs?endpoint=http://h"),
            ("Davs://H/X", "davs://H/X"), ("DAV://h", "dav://h"),
        ] {
            #expect(try StoreAddress(parsing: text) == StoreAddress(parsing: usual))
        }
        #expect(StoreAddress.usualForm("DAVS://H/X") == "davs://H/X")
        #expect(StoreAddress.usualForm("folder:/X") == "folder:/X")
        // Folders may be called so.
        for text in ["Folder:/X", "http://h", "s3:/x", "s3"] {
            #expect(StoreAddress.usualForm(text) == nil)
        }
    }

    @Test(arguments: [
        ("", "begins with"), ("http://x", "begins with"), ("s3://", "bucket's name"),
        ("s3://UPPER", "bucket's name"), ("s3://a..b", "bucket's name"),
        ("s3://blobs/%2e%2e/x", "name that cannot be"), ("s3://blobs/%zz", "name that cannot be"),
        ("s3://blobs/a%2fb", "name that cannot be"),
        ("s3://blobs?endpoint=ftp://x", "endpoint="),
        ("s3://blobs?endpoint=http://u:p@x", "endpoint="),
        ("s3://blobs?endpoint=http://x/y", "endpoint="), ("s3://blobs?style=odd", "style="),
        ("s3://blobs?endpoint=http://[::1]:9000&style=virtual", "no host blobs.[::1]"),
        ("s3://blobs?endpoint=http://127.0.0.1:9000&style=virtual", "no host blobs.127.0.0.1"),
        ("s3://blobs?region=a%20b", "region="), ("s3://blobs?regoin=x", "no option regoin"),
        ("s3://blobs?region=a&region=b", "twice"), ("s3://blobs?region", "no valid value"),
        ("s3://blobs#x", "no #"), ("dav://", "host"), ("dav://h:99999/", "port"),
        ("dav://h:/", "port"), ("dav://h\u{1}/", "control"),
        ("davs://h/?style=path", "no option style"),
        ("dav://a b/", "host"),
    ])
    func `what is wrong is said`(_ text: String, _ part: String) {
        #expect(reason(text)?.contains(part) == true, "\(text): \(reason(text) ?? "accepted")")
    }

    @Test func `a password is refused and not repeated`() {
        let reason = reason("davs://user:geheim@host/")
        #expect(reason?.contains("no password") == true)
        #expect(reason?.contains("geheim") == false)
    }
}
