/// An argument of a system call that a probe makes.
package enum CallArgument: Sendable {
    /// A number, a descriptor or an address.
    case integer(Int)
    /// Bytes the kernel reads; a NUL follows them, so a path needs none of its own.
    case input([UInt8])
    /// Room for this many bytes that the kernel writes; they come back in the reply.
    case output(Int)
    /// Bytes the kernel reads and writes; they come back in the reply.
    case both([UInt8])
}

/// What a test asks of a probe.
package enum Request: Sendable {
    /// One system call, made on the main thread or on a new one.
    case call(number: Int, arguments: [CallArgument], onNewThread: Bool)
    /// Reads memory, for mappings.
    case peek(address: Int, count: Int)
    /// Writes memory, for mappings.
    case poke(address: Int, bytes: [UInt8])
    /// Catches a signal without doing anything, so that it interrupts a blocking call.
    case catchSignal(Int)
    /// Makes a child that holds all descriptors and mappings until it is killed.
    case fork
    /// Runs a program to its end with the probe's credentials, directory and descriptors.
    case program([[UInt8]])

    /// The message of this request.
    package var frame: [UInt8] {
        var frame = FrameWriter()
        switch self {
        case .call(let number, let arguments, let onNewThread):
            frame.put(onNewThread ? 1 : 0)
            frame.put(number)
            frame.put(arguments.count)
            for argument in arguments { argument.write(to: &frame) }
        case .peek(let address, let count):
            frame.put(2)
            frame.put(address)
            frame.put(count)
        case .poke(let address, let bytes):
            frame.put(3)
            frame.put(address)
            frame.put(bytes)
        case .catchSignal(let signal):
            frame.put(4)
            frame.put(signal)
        case .fork:
            frame.put(5)
        case .program(let words):
            frame.put(6)
            frame.put(words.count)
            for word in words { frame.put(word) }
        }
        return frame.bytes
    }

    /// Reads the message of a request.
    package init(frame bytes: [UInt8]) throws {
        var frame = FrameReader(bytes)
        let kind = try frame.number()
        switch kind {
        case 0, 1:
            let number = try frame.number()
            let count = try frame.number()
            let arguments = try (0..<count).map { _ in try CallArgument(from: &frame) }
            self = .call(number: number, arguments: arguments, onNewThread: kind == 1)
        case 2: self = .peek(address: try frame.number(), count: try frame.number())
        case 3: self = .poke(address: try frame.number(), bytes: try frame.content())
        case 4: self = .catchSignal(try frame.number())
        case 5: self = .fork
        case 6:
            let count = try frame.number()
            self = .program(try (0..<count).map { _ in try frame.content() })
        default: throw FrameReader.Malformed()
        }
    }
}

extension CallArgument {
    fileprivate func write(to frame: inout FrameWriter) {
        switch self {
        case .integer(let value):
            frame.put(0)
            frame.put(value)
        case .input(let bytes):
            frame.put(1)
            frame.put(bytes)
        case .output(let count):
            frame.put(2)
            frame.put(count)
        case .both(let bytes):
            frame.put(3)
            frame.put(bytes)
        }
    }

    fileprivate init(from frame: inout FrameReader) throws {
        switch try frame.number() {
        case 0: self = .integer(try frame.number())
        case 1: self = .input(try frame.content())
        case 2: self = .output(try frame.number())
        case 3: self = .both(try frame.content())
        default: throw FrameReader.Malformed()
        }
    }
}

/// What a probe answers.
package struct Reply: Sendable {
    /// The system call's result, or -errno; the exit status of a program.
    package var result: Int
    /// The buffers the kernel wrote, in the order of the arguments; a program's two outputs.
    package var buffers: [[UInt8]]

    /// A reply of these parts.
    package init(result: Int, buffers: [[UInt8]] = []) {
        self.result = result
        self.buffers = buffers
    }

    /// The message of this reply.
    package var frame: [UInt8] {
        var frame = FrameWriter()
        frame.put(result)
        frame.put(buffers.count)
        for buffer in buffers { frame.put(buffer) }
        return frame.bytes
    }

    /// Reads the message of a reply.
    package init(frame bytes: [UInt8]) throws {
        var frame = FrameReader(bytes)
        result = try frame.number()
        let count = try frame.number()
        buffers = try (0..<count).map { _ in try frame.content() }
    }
}
