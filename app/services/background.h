#pragma once

#include "profiler/model/result.h"

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace app {

/// Runs work on separate threads for an object of the GUI thread, which owns this object as a member. The newest work
/// item supersedes earlier ones: they are asked to stop, and their posted results are dropped. At most two items run at
/// once: the newest and one that has not noticed yet that it is superseded. A third one waits; a fourth replaces it.
/// Only the destructor waits for work.
class Background {
public:
    /// Calls a function on the owner's thread, unless the work was superseded or cancelled in the meantime.
    using Post = std::function<void(std::function<void()>)>;
    using Work = std::function<void(std::stop_token, const Post&)>;
    /// Called on the owner's thread if the work threw an exception, instead of its posted results.
    using Failed = std::function<void(const profiler::Error&)>;

    /// A superseded item needs its memory until it stops: memory may suffice for two traces, but not for three.
    static constexpr std::size_t kMostAtOnce = 2;

    explicit Background(QObject* owner);
    /// Asks all work to stop and waits for it.
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    /// @param failed  resets the owner after a failure, usually insufficient memory
    void start(Work work, Failed failed);
    /// No posted result arrives after this call.
    void cancel();
    /// The same, but waits until the work has ended, for example before the owner removes a file.
    void cancelAndWait();
    /// Asks the work to stop; its posted results still arrive.
    void requestStop();
    /// Number of running work items, including superseded ones.
    [[nodiscard]] std::size_t running() const;

private:
    struct Job {
        std::shared_ptr<std::atomic<bool>> ended;
        std::jthread thread; ///< last: it uses `ended`
    };
    struct Wanted {
        Work work;
        Failed failed;
    };

    void run(Wanted wanted);
    void startPending();
    [[nodiscard]] Post makePost() const;

    QObject* m_owner;
    std::shared_ptr<char> m_alive;  ///< destroyed with this object, which drops posted results
    std::shared_ptr<int> m_current; ///< number of the newest work item; used only on the owner's thread
    std::optional<Wanted> m_pending;
    bool m_stopPending = false; ///< requestStop() was called before the pending work could start
    std::vector<Job> m_jobs;    ///< last: the threads post to the owner
};

} // namespace app
