#include "app/services/trust_store.h"

#include "app/configuration/configuration_model.h"
#include "app/look/qstring.h"
#include "app/services/notices.h"

#include <QSettings>
#include <utility>

namespace app {

using advisor::runner::Isolation;

namespace {

constexpr auto kMayCopy = "program/copies";

} // namespace

TrustStore::TrustStore(Notices* notices, ConfigurationModel* configuration)
    : m_notices(notices), m_configuration(configuration)
{
}

TrustStore::~TrustStore()
{
    m_thread.cancel();
}

void TrustStore::passTraining(std::function<void()> go)
{
    pass(codeOf(m_configuration->get()), [this, go = std::move(go)](const QString& sha256) {
        // The trainer runs only the file with this hash; the run's record contains it.
        if (!sha256.isEmpty())
            static_cast<void>(m_configuration->setKnob(config::key::trustedSha256.name, sha256));
        passPackage(go);
    });
}

// A compiled model for validation is code, too, and needs permission like a model file.
void TrustStore::passPackage(const std::function<void()>& go)
{
    config::TrainingConfig package = m_configuration->get();
    const std::string path = package[config::key::evalPackage];
    if (path.empty() || !package.set(config::key::workload.name, "torchscript") ||
        !package.set(config::key::modelPath.name, path)) {
        go();
        return;
    }
    pass(codeOf(package), [this, go](const QString& sha256) {
        static_cast<void>(m_configuration->setKnob(config::key::evalPackageSha256.name, sha256));
        go();
    });
}

void TrustStore::passProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                             std::function<void()> go)
{
    emit m_notices->outdated();
    pass(codeOf(command, folder), [go = std::move(go)](const QString&) { go(); });
}

void TrustStore::passIsolation(const std::filesystem::path& folder, const std::function<void(Isolation)>& go)
{
    const auto possible = advisor::runner::checkPrivateViews();
    if (possible)
        return go(Isolation::Overlay);
    if (QSettings().value(kMayCopy).toBool())
        return go(Isolation::Copy);
    m_afterCopyAsked = go;
    emit copyAsked(asQString(folder.string()), asQString(possible.error().what.text));
}

/// @param code  the code that would be run, not read yet; none: no user code
void TrustStore::pass(const std::optional<CodeFile>& code, Allowed allowed)
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

void TrustStore::take(const profiler::Result<CodeFile>& read)
{
    if (!read) {
        m_allowed = nullptr;
        emit m_notices->noticed(tr("Not started: %1").arg(asQString(read.error().what.text)), detailOf(read.error()),
                                true);
    } else if (isTrusted(*read)) {
        std::exchange(m_allowed, nullptr)(read->sha256);
    } else {
        m_asked = *read;
        emit codeAsked(*read);
    }
}

void TrustStore::answerCode(const CodeFile& file, Answer answer)
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

void TrustStore::answerCopy(bool allowed)
{
    const auto go = std::exchange(m_afterCopyAsked, nullptr);
    if (!allowed || !go)
        return;
    QSettings().setValue(kMayCopy, true);
    go(Isolation::Copy);
}

} // namespace app
