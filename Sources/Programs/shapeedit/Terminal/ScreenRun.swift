import Editor
import Glibc
import Terminal

/// The run of a program that takes over the screen: what it hears from the terminal, and the signals that
/// concern it, brought to its state.
protocol ScreenRun: ~Copyable {
    var device: TerminalDevice { get }
    var listener: TerminalListener { get set }
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

extension ScreenRun where Self: ~Copyable {
    mutating func takeInput() {
        let heard = listener.read()
        if device.isGone { end(by: SIGHUP) }
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
