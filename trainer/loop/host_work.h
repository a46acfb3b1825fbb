#pragma once

#include "profiler/capture/recorder.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace trainer {

/// Work of the host that no step needs to wait for: metrics, writing the log and checkpoints. Done in the order in
/// which it was given, on a thread of its own or, for comparison, at once by the caller.
class HostWork {
public:
    /// @param apart  on a thread of its own
    /// @param recorder  where that thread's work is recorded; null: nowhere
    /// @param name  of that thread
    /// @param mostOutstanding  give() waits while so many pieces are
    HostWork(bool apart, profiler::capture::Recorder* recorder, std::string name = "host work",
             std::size_t mostOutstanding = 64);
    /// Finishes what was given.
    ~HostWork();
    HostWork(const HostWork&) = delete;
    HostWork& operator=(const HostWork&) = delete;

    /// @param what  name of its range in the trace
    /// @param work  an exception of it is kept for takeError(); what comes after it is still done. Waits while too
    ///              many pieces are outstanding: a disk that is too slow must not fill the memory
    void give(std::string_view what, std::function<void()> work);
    /// Returns when everything given so far is done.
    void finish();
    /// The oldest exception that was not taken yet; null: none.
    std::exception_ptr takeError();

private:
    struct Piece {
        std::uint32_t name;
        std::function<void()> work;
    };
    void run();
    void doOne(const std::function<void()>& work);

    profiler::capture::Recorder* m_recorder;
    std::string m_name;
    std::size_t m_mostOutstanding;
    std::mutex m_mutex; // never held while work is done
    std::condition_variable m_changed;
    std::deque<Piece> m_pieces;
    std::deque<std::exception_ptr> m_errors;
    bool m_busy = false, m_ending = false;
    std::thread m_thread; // not joinable: the caller does the work
};

} // namespace trainer
