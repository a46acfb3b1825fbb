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

/// Host work that no step needs to wait for: metrics, log lines and checkpoints. It runs in submission order, on a
/// separate thread or, for comparison, immediately on the calling thread.
class HostWork {
public:
    /// @param apart  runs on a separate thread
    /// @param recorder  records that thread's work; null: not recorded
    /// @param name  of that thread
    /// @param mostOutstanding  give() waits while this many work items are pending
    HostWork(bool apart, profiler::capture::Recorder* recorder, std::string name = "host work",
             std::size_t mostOutstanding = 64);
    /// Finishes all pending work.
    ~HostWork();
    HostWork(const HostWork&) = delete;
    HostWork& operator=(const HostWork&) = delete;

    /// @param what  name of its range in the trace
    /// @param work  its exception is kept for takeError(); later work still runs. Waits while too
    ///              many items are pending: a slow disk must not fill the memory
    void give(std::string_view what, std::function<void()> work);
    /// Returns when all work given so far is done.
    void finish();
    /// Removes and returns the oldest pending exception; null: none.
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
    std::mutex m_mutex; // never held while work runs
    std::condition_variable m_changed;
    std::deque<Piece> m_pieces;
    std::deque<std::exception_ptr> m_errors;
    bool m_busy = false, m_ending = false;
    std::thread m_thread; // not joinable: the caller runs the work
};

} // namespace trainer
