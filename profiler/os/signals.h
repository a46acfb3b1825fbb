#pragma once

#include "profiler/os/files.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <optional>
#include <span>

/// Signals: blocking them for a thread, waiting for them, and turning them into something that can be polled.
namespace profiler::os {

/// A signal that was waited for.
struct ReceivedSignal {
    int number = 0;
    bool isFromKernel = false; ///< sent by the kernel: Ctrl-C in a terminal, or a condition such as the end of a child
    int sender = 0;            ///< process that sent it; 0 if unknown
};

/// Blocks signals of the calling thread, and of threads and processes that it starts, until it is destroyed on the same
/// thread. A blocked signal waits.
class BlockedSignals {
public:
    /// Blocks all signals. Threads that are started while this object exists receive none, so that signals reach the
    /// program's own threads.
    BlockedSignals();
    explicit BlockedSignals(std::span<const int> numbers);
    /// Restores the previous state, except for keepBlocked().
    ~BlockedSignals();
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

    /// Waits for one of the signals. nullopt if something else interrupted the wait.
    [[nodiscard]] std::optional<ReceivedSignal> wait() const;
    /// One of the signals that have arrived; nullopt if there is none.
    [[nodiscard]] std::optional<ReceivedSignal> take() const;
    /// These signals stay blocked after the destruction.
    void keepBlocked(std::span<const int> numbers);
    /// The signals that were blocked before.
    [[nodiscard]] const sigset_t& before() const { return m_before; }

private:
    sigset_t m_signals{}, m_before{}, m_after{};
};

/// Makes the first signal of each kind readable instead of ending the process. The second one has its previous effect
/// again: a user who sends it does not want to wait. Only one instance at a time, because a handler reaches only
/// globals.
class SignalWatch {
public:
    /// Whether a signal that the process ignores (nohup) is caught as well.
    enum class Ignored { Catch, Keep };
    SignalWatch(std::span<const int> numbers, Ignored ignored);
    /// Restores the previous handlers.
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    /// Readable after a signal or wake(); −1 if it could not be created, and then no signal is caught.
    [[nodiscard]] int descriptor() const { return m_event.get(); }
    /// Makes descriptor() readable. Thread-safe.
    void wake() const;
    /// Whether a signal arrived, or wake() was called, since the previous call.
    [[nodiscard]] bool take() const;

private:
    static constexpr std::size_t kMost = 8;
    struct Handled {
        int number = 0; ///< 0: unused
        struct sigaction before {};
    };
    Descriptor m_event;
    std::array<Handled, kMost> m_handled{};
};

} // namespace profiler::os
