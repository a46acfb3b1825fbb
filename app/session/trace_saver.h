#pragma once

#include "app/session/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace app {

/// Writes a trace to a file in the background, in the format that the file's extension names.
class TraceSaver : public QObject {
    Q_OBJECT
public:
    explicit TraceSaver(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~TraceSaver() override;

    [[nodiscard]] bool isRunning() const { return m_running; }
    /// A newer one replaces one that is under way.
    /// @param metadata  as profiler::formats::WriteOptions has it
    void save(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& path,
              std::map<std::string, std::string> metadata);
    /// Nothing is left of the file, and no signal comes any more.
    void cancel();

signals:
    void progressed(double share);
    void saved(const std::filesystem::path& path);
    void failed(const std::filesystem::path& path, const profiler::Error& error);

private:
    bool m_running = false;
    Background m_thread;
};

} // namespace app
