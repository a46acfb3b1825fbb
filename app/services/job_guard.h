#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <optional>

namespace app {

class Notices;

/// What the app runs for the user, one at a time.
enum class Job { Training, Recording, RecordingCost, Experiment, Tuning };

/// Lets one measured job run at a time: a second one would share the CPU with it and skew the results. GUI thread.
class JobGuard : public QObject {
    Q_OBJECT
public:
    explicit JobGuard(Notices* notices) : m_notices(notices) {}

    [[nodiscard]] std::optional<Job> running() const { return m_running; }
    [[nodiscard]] bool isRunning(Job job) const { return m_running == job; }
    [[nodiscard]] bool isBusy() const { return m_running.has_value(); }
    /// The current activity: "A training run is in progress."; empty if there is none.
    [[nodiscard]] QString whyBusy() const;
    /// False while a job is running; reports the reason as a notice.
    bool mayStart();

    /// @param stop  asks the job to stop; empty: it can only be stopped where it was started
    void begin(Job job, std::function<void()> stop = {});
    /// The running job has been asked to stop.
    void setStopping(Job job);
    void end(Job job);

    /// A job is running that stop() can stop and that has not been asked to stop.
    [[nodiscard]] bool canStop() const { return m_running && m_stop && !m_stopping; }
    void stop();

signals:
    /// isBusy(), canStop() or the activity changed.
    void changed();

private:
    Notices* m_notices;
    std::optional<Job> m_running;
    bool m_stopping = false;
    std::function<void()> m_stop;
};

} // namespace app
