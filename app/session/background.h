#pragma once

#include <QMetaObject>
#include <QObject>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

namespace app {

/// One piece of work at a time on a thread of its own, for an object of the GUI thread that owns this as a member. A
/// newer piece, cancel() and the destructor ask the one before to stop and wait for it.
class Background {
public:
    /// Hands a function to the owner's thread. It is dropped when the work was cancelled or another was started
    /// meanwhile.
    using Post = std::function<void(std::function<void()>)>;
    using Work = std::function<void(std::stop_token, const Post&)>;

    explicit Background(QObject* owner) : m_owner(owner), m_current(std::make_shared<int>(0)) {}

    void start(Work work)
    {
        cancel();
        m_thread = std::jthread(
            [work = std::move(work), post = makePost()](const std::stop_token& stop) { work(stop, post); });
    }

    /// Nothing that the work posted arrives after this.
    void cancel()
    {
        ++*m_current;
        if (m_thread.joinable()) {
            m_thread.request_stop();
            m_thread.join();
        }
    }

    /// Asks the work to stop and returns at once; what it posts still arrives.
    void requestStop() { m_thread.request_stop(); }

private:
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
    std::shared_ptr<int> m_current;
    std::jthread m_thread;
};

} // namespace app
