import Model
import TestSupport
import Testing

@testable import Stores

/// What people are told of answers that say no more than a status.
@Suite struct StatusMessageTests {
    @Test(
        arguments: [
            "429": "it is asked too often", "500": "something is wrong there",
            "502": "what is behind it does not answer", "503": "it is busy or out of service",
            "504": "what is behind it does not answer", "507": "it has no room left",
        ])
    func `an error says what a status means`(_ status: String, _ meaning: String) throws {
        let server = try HostileServer { $0.answer("\(status) No") }
        guard
            case .webDAV(let address) = try StoreAddress(
                parsing: "dav://127.0.0.1:\(server.port)/store")
        else { return }
        let store = WebDAVStore(address, CredentialSource([], address: ""), Timeouts())
        do throws(StoreError) {
            _ = try store.bytes(Sample([1, 2]).blob)
            Issue.record("it came")
        } catch {
            #expect(error.reason.hasSuffix("the server answers \(status): \(meaning)"), "\(error)")
        }
    }
}
