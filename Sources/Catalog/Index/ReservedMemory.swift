internal import Glibc
internal import Model

/// A growing array of plain records that never moves.
///
/// Address space for the largest array is reserved at once and pages come into being when they are
/// touched: no copying when it grows, no slack, pointers to records stay good.
struct ReservedArray<Record: BitwiseCopyable>: ~Copyable {
    /// The first record; index 0 is never handed out, so that 0 can mean "none".
    let base: UnsafeMutablePointer<Record>
    /// Records there is address space for.
    let capacity: Int
    private let bytes: Int

    /// Reserves room for `capacity` records, or for as many as the system allows with as much left to all
    /// else: hash tables, stacks and the database are to have room until the index has none.
    init(capacity wanted: Int) throws(Failure) {
        var capacity = wanted
        while true {
            // Whole pages.
            let bytes = (capacity * MemoryLayout<Record>.stride + 4_095) & ~4_095
            let memory = mmap(
                nil, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0)
            if let memory, memory != MAP_FAILED {
                munmap(memory + bytes, bytes)
                base = memory.bindMemory(to: Record.self, capacity: capacity)
                self.capacity = capacity
                self.bytes = bytes
                return
            }
            // Overcommit is switched off or the address space is limited: ask for less.
            capacity /= 4
            if capacity < 1 << 16 {
                throw Failure(.system, "not enough address space for the index")
            }
        }
    }

    deinit { munmap(base, bytes) }

    @inline(__always)
    subscript(index: UInt32) -> UnsafeMutablePointer<Record> { base + Int(index) }
}
