#pragma once

#include <QMetaObject>
#include <QObject>
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace app {

/// One piece of work at a time on a thread of its own, for an object of the GUI thread that owns this as a member. A
/// newer piece, cancel() and the destructor ask the one before to stop and wait for it. Work that cannot stop is not
/// waited for but by the destructor: it goes on unseen beside the newer one.
class Background {
public:
    /// Hands a function to the owner's thread. It is dropped when the work was cancelled or another was started
    /// meanwhile.
    using Post = std::function<void(std::function<void()>)>;
    using Work = std::function<void(std::stop_token, const Post&)>;
    /// Whether the work looks at its stop token often enough for the GUI thread to wait for it.
    enum class Stops { Soon, AtItsEnd };

    explicit Background(QObject* owner, Stops stops = Stops::Soon)
        : m_owner(owner), m_stops(stops), m_current(std::make_shared<int>(0))
    {
    }

    void start(Work work)
    {
        cancel();
        m_ended = std::make_shared<std::atomic<bool>>(false);
        m_thread = std::jthread(
            [work = std::move(work), post = makePost(), ended = m_ended](const std::stop_token& stop) mutable {
                std::exchange(work, {})(stop, post); // what it held is let go before it counts as ended
                *ended = true;
            });
    }

    /// Nothing that the work posted arrives after this.
    void cancel()
    {
        ++*m_current;
        std::erase_if(m_left, [](const Left& left) { return left.ended->load(); });
        if (!m_thread.joinable())
            return;
        m_thread.request_stop();
        if (m_stops == Stops::Soon || m_ended->load())
            m_thread.join();
        else
            m_left.push_back({std::move(m_thread), std::move(m_ended)});
    }

    /// Asks the work to stop and returns at once; what it posts still arrives.
    void requestStop() { m_thread.request_stop(); }

private:
    /// Work that was cancelled and goes on; its thread is joined when this goes.
    struct Left {
        std::jthread thread;
        std::shared_ptr<std::atomic<bool>> ended;
    };

    [[nodiscard]] Post makePost() const
    {
        // The counter is touched on the owner's thread only.
        return [owner = m_owner, current = m_current, mine = *m_current](std::function<void()> call) {
            const auto guarded = [current, mine, call = std::move(call)] {
                if (*current == mine)
                    call();
            };
            QMetaObject::invokeMethod(owner, guarded, Qt::QueuedConnection);
        };
    }

    QObject* m_owner;
    Stops m_stops;
    std::shared_ptr<int> m_current;
    std::shared_ptr<std::atomic<bool>> m_ended; ///< of m_thread's work
    std::jthread m_thread;
    std::vector<Left> m_left;
};

} // namespace app
