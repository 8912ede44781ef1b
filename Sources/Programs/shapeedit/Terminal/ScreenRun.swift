import Editor
import Glibc
import Model
import SystemCalls
import Terminal

/// The run of a program that takes over the screen: what it hears from the terminal, and the signals that
/// concern it, brought to its state.
protocol ScreenRun: ~Copyable {
    var device: TerminalDevice { get }
    var listener: TerminalListener { get set }
    /// What it works on, for messages.
    var name: String { get }
    /// The signal that asked for the end.
    var ending: Int32? { get }
    /// The terminal that the screen is laid out for.
    var laidOutFor: TerminalShape { get }

    mutating func take(_ input: InputEvent)
    mutating func take(_ shape: TerminalShape)
    /// What is on the screen is not known any more.
    mutating func forgetScreen()
    /// Gives the terminal back and stops; returns when the program is to go on.
    mutating func suspend()
    /// Has the run end, and the program die of the signal afterwards.
    mutating func end(by signal: Int32)
}

/// How it ended that changes were waited for.
enum Finish: Equatable {
    case done
    /// Whoever has the file did not answer.
    case late
    /// The user did not want to wait.
    case interrupted(Int32)

    /// How long changes that are under way are waited for before the terminal is given back, in
    /// milliseconds.
    static let shortPatience: UInt64 = 1_000
    /// How long then, and after a signal: longer than a lock of others is waited for.
    static let patience = 15_000
}

extension ScreenRun where Self: ~Copyable {
    /// Waits for the changes that are under way, bounded. Who waits long has the terminal back meanwhile,
    /// and can end the waiting, or stop it and go on with it: that begins it anew.
    ///
    /// - Parameter isDone: waits so many milliseconds at most, and tells whether all changes are made.
    func finish(_ isDone: (UInt64) -> Bool) -> Finish {
        if isDone(Finish.shortPatience) { return .done }
        device.close()
        // Then that has been waited for already.
        if ending != nil { return .late }
        Console.complain("\(name): it is still being written to; Ctrl-C ends the waiting")
        var end = MonotonicClock.after(milliseconds: UInt64(Finish.patience))
        while MonotonicClock.now < end {
            if isDone(50) { return .done }
            for signal in device.signals() {
                switch signal {
                case .end(let number): return .interrupted(number)
                case .stop:
                    device.stop()
                    end = MonotonicClock.after(milliseconds: UInt64(Finish.patience))
                case .resumed, .resized: break
                }
            }
        }
        return .late
    }

    /// Ends the run, whose terminal is closed, as ``finish(_:)`` came out: with the signal that asked for it,
    /// or by throwing that not all changes are known to be made.
    func leave(_ finish: Finish, complaint: String) throws(Failure) {
        var signal = ending
        if case .interrupted(let later) = finish { signal = later }
        let failure = finish == .done ? nil : Failure(.temporary, "\(name): \(complaint)")
        if let signal {
            if let failure { Console.complain(failure.message) }
            device.die(of: signal)
        }
        if let failure { throw failure }
    }

    mutating func takeInput() {
        let heard = listener.read()
        if device.isGone {
            // It may be gone for us because one of these asked us to end.
            takeSignals()
            end(by: SIGHUP)
        }
        for one in heard {
            switch one {
            case .input(let input): take(input)
            case .shape(let shape): if shape != laidOutFor { take(shape) }
            }
        }
    }

    /// Takes what is whole now because nothing more has come of it.
    mutating func takeRipeInput() {
        for input in listener.ripe() { take(input) }
    }

    mutating func takeSignals() {
        for signal in device.signals() {
            switch signal {
            case .end(let number): end(by: number)
            case .stop: suspend()
            case .resumed:
                device.resume()
                forgetScreen()
            case .resized: take(listener.shape)
            }
        }
    }
}
