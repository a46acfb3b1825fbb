#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace app {

/// Writes a trace to a file in the background, in the format of its extension.
class TraceSaver : public QObject {
    Q_OBJECT
public:
    explicit TraceSaver(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~TraceSaver() override;

    [[nodiscard]] bool isRunning() const { return m_running; }
    /// A newer export replaces a running one.
    /// @param metadata  see profiler::formats::WriteOptions
    void save(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& path,
              std::map<std::string, std::string> metadata);
    /// Removes the partial file; no signals are emitted after this call.
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
