#include "app/services/code_gate.h"

#include <utility>

namespace app {

CodeGate::~CodeGate()
{
    m_thread.cancel();
}

void CodeGate::pass(const std::optional<CodeFile>& code, Allowed allowed)
{
    m_thread.cancel();
    m_asked.reset();
    m_allowed = nullptr;
    if (!code) {
        allowed({});
        return;
    }
    m_allowed = std::move(allowed);
    m_thread.start(
        [this, code = *code](const std::stop_token& stop, const Background::Post& post) {
            post([this, read = readCode(code, stop)] { take(read); });
        },
        [this](const profiler::Error& error) { take(tl::unexpected(error)); });
}

void CodeGate::take(const profiler::Result<CodeFile>& read)
{
    if (!read) {
        m_allowed = nullptr;
        emit failed(read.error());
    } else if (isTrusted(*read)) {
        std::exchange(m_allowed, nullptr)(read->sha256);
    } else {
        m_asked = *read;
        emit asked(*read);
    }
}

void CodeGate::answer(const CodeFile& file, Answer answer)
{
    if (!m_asked || m_asked->path != file.path || m_asked->sha256 != file.sha256 || m_asked->command != file.command)
        return;
    m_asked.reset();
    const Allowed allowed = std::exchange(m_allowed, nullptr);
    if (answer == Answer::No)
        return;
    if (answer == Answer::Trust)
        trust(file);
    allowed(file.sha256);
}

} // namespace app
