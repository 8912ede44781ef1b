/// How much the local contents of a container with a store may take.
package struct Quota: Sendable {
    /// Bytes of all current versions that are here; `nil` for no bound.
    package var bytes: UInt64?
    /// Bytes of the disk that are to stay free; `nil` for none.
    package var free: UInt64?

    package init(bytes: UInt64? = nil, free: UInt64? = nil) {
        self.bytes = bytes
        self.free = free
    }

    package var isLimited: Bool { bytes != nil || free != nil }
}

/// What is known of how the quota is kept. Guarded by the volume's lock.
struct QuotaState {
    /// Bytes of current versions here when they were counted last, and of those that came since.
    var localBytes: UInt64 = 0
    /// Bytes too many that could not be let go; 0 if there are none.
    var excess: UInt64 = 0
    /// Something was taken or became free to go since it was looked last.
    var isDue = true
    /// When items were opened last in this mount: access times are not written that often.
    var opened: [UInt64: UInt64] = [:]
}
