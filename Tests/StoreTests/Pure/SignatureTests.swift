import Testing

@testable import Stores

/// The examples that Amazon publishes for Signature Version 4.
@Suite struct SignatureTests {
    private static let empty = S3Request.emptyHash

    /// "Examples: Signature Calculations in AWS Signature Version 4" of the S3 API reference.
    private func signature(
        _ method: String, _ path: String, _ query: [(String, String)],
        _ headers: [(String, String)], _ hash: String = empty
    ) -> String {
        let signer = SignatureV4(
            credentials: Credentials(
                identity: "AKIAIOSFODNN7EXAMPLE",
                secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1", moment: "20130524T000000Z")
        let common = [
            ("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", hash),
            ("x-amz-date", "20130524T000000Z"),
        ]
        let text = signer.authorization(
            method: method, path: path, query: query, headers: headers + common, payloadHash: hash)
        return String(text.split(separator: "=").last ?? "")
    }

    @Test func `getting a range of an object`() {
        #expect(
            signature("GET", "/test.txt", [], [("range", "bytes=0-9")])
                == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func `putting an object with a special character in its name`() {
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ]
        let path = PercentEncoding.encode("/test$file.text", keepingSlashes: true)
        #expect(
            signature(
                "PUT", path, [], headers,
                "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func `a query without a value`() {
        #expect(
            signature("GET", "/", [("lifecycle", "")], [])
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func `listing, with a query in the wrong order`() {
        #expect(
            signature("GET", "/", [("prefix", "J"), ("max-keys", "2")], [])
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    /// "get-vanilla" of the general test suite.
    @Test func `another service`() {
        let signer = SignatureV4(
            credentials: Credentials(
                identity: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1", service: "service", moment: "20150830T123600Z")
        let text = signer.authorization(
            method: "GET", path: "/", query: [],
            headers: [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")],
            payloadHash: Self.empty)
        #expect(
            text
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,"
                + "SignedHeaders=host;x-amz-date,Signature="
                + "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
    }
}
