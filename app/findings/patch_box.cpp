#include "app/findings/patch_box.h"

#include "advisor/change/apply.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSyntaxHighlighter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace app {

namespace {

constexpr int kMostLines = 18; ///< visible lines of the diff before it scrolls

/// Colours removed and added lines of a unified diff. The + and - signs carry the same information without colour.
class DiffColors : public QSyntaxHighlighter {
public:
    using QSyntaxHighlighter::QSyntaxHighlighter;

protected:
    void highlightBlock(const QString& line) override
    {
        const Shades tones = shades(QApplication::palette());
        if (line.startsWith("@@") || line.startsWith("---") || line.startsWith("+++"))
            setFormat(0, static_cast<int>(line.size()), tones.muted);
        else if (line.startsWith('+'))
            setFormat(0, static_cast<int>(line.size()), tones.good);
        else if (line.startsWith('-'))
            setFormat(0, static_cast<int>(line.size()), tones.bad);
    }
};

QLabel* makeLabel(const char* name, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(name);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

QString howText(const advisor::change::ProgramPatch& patch, const advisor::change::ChangeResult& change)
{
    using advisor::change::How;
    QString text;
    switch (change.how) {
    case How::Source:
        text = PatchBox::tr("This change edits your program:");
        break;
    case How::Argument: {
        QStringList words;
        for (const std::string& word : patch.command)
            words << asQString(word);
        text = PatchBox::tr("This is a command-line option of your program. Start it with: %1").arg(words.join(' '));
        break;
    }
    case How::Hook:
        text = PatchBox::tr("Your code does not set this. Stepscope can make the change inside PyTorch to measure it.");
        break;
    case How::ToRead:
        text = PatchBox::tr("This change needs your review. Read the proposal and edit your program yourself:");
        break;
    }
    return change.whyNot.empty() ? text : asQString(change.whyNot.text) + ' ' + text;
}

using Written = profiler::Result<std::vector<std::filesystem::path>>;

/// Reverts the changes that edit files, one after another. Stops at the first one that cannot be reverted.
Written takeAllBack(const profiler::Trace& trace, const std::vector<advisor::change::WantedChange>& changes,
                    const advisor::change::ProgramPatch& patch)
{
    std::vector<std::filesystem::path> files;
    for (const advisor::change::WantedChange& change : changes) {
        const bool editsNothing = std::any_of(patch.changes.begin(), patch.changes.end(), [&](const auto& made) {
            return made.key == change.key && made.how != advisor::change::How::Source;
        });
        if (editsNothing && changes.size() > 1)
            continue;
        const Written written = advisor::change::revertChange(trace, change.key);
        if (!written)
            return written;
        for (const std::filesystem::path& file : *written)
            if (std::find(files.begin(), files.end(), file) == files.end())
                files.push_back(file);
    }
    return files;
}

/// How each change is made, one line per method.
QString howText(const advisor::change::ProgramPatch& patch)
{
    QStringList lines;
    for (const advisor::change::ChangeResult& change : patch.changes)
        lines << howText(patch, change);
    lines.removeDuplicates();
    return lines.join('\n');
}

QString filesText(const std::vector<std::filesystem::path>& files)
{
    QStringList names;
    for (const auto& file : files)
        names << QString::fromStdString(file.filename().string());
    return names.join(", ");
}

} // namespace

PatchBox::PatchBox(std::shared_ptr<const profiler::Trace> trace, std::vector<advisor::change::WantedChange> changes,
                   QWidget* parent)
    : QWidget(parent), m_trace(std::move(trace)), m_changes(std::move(changes)), m_how(makeLabel("patchHow", this)),
      m_outcome(makeLabel("patchOutcome", this)), m_diff(new QPlainTextEdit(this)),
      m_apply(new QPushButton(tr("Apply to file"), this)), m_revert(new QPushButton(tr("Revert"), this)),
      m_copy(new QPushButton(icon("copy"), tr("Copy"), this)), m_thread(this)
{
    setObjectName("patchBox");
    m_diff->setObjectName("diff");
    m_diff->setReadOnly(true);
    m_diff->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_diff->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_diff->setFrameShape(QFrame::NoFrame);
    m_diff->setTabChangesFocus(true);
    m_diff->setAccessibleName(tr("The change as a diff"));
    new DiffColors(m_diff->document());
    m_apply->setObjectName("applyPatch");
    m_apply->setToolTip(tr("Apply the change to the file. The original is kept, and Revert restores it."));
    m_revert->setObjectName("revertPatch");
    m_revert->setToolTip(tr("Remove this change from the file; other changes stay"));
    m_copy->setObjectName("copyPatch");
    m_copy->setToolTip(tr("Copy the diff in the format that patch and git apply read"));
    connect(m_apply, &QPushButton::clicked, this, [this] { carryOut(Action::Apply); });
    connect(m_revert, &QPushButton::clicked, this, [this] { carryOut(Action::Revert); });
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_diff->toPlainText()); });
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(6);
    for (QPushButton* button : {m_apply, m_revert, m_copy})
        buttons->addWidget(button);
    buttons->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_how);
    column->addWidget(m_diff);
    column->addLayout(buttons);
    column->addWidget(m_outcome);
    m_how->setText(tr("Preparing the diff…"));
    m_diff->hide();
    m_outcome->hide();
    setButtons(false);
    for (QPushButton* button : {m_apply, m_revert, m_copy})
        button->hide();
}

void PatchBox::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!std::exchange(m_prepared, true))
        prepare();
}

void PatchBox::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange)
        return;
    for (auto* colors : m_diff->document()->findChildren<QSyntaxHighlighter*>())
        colors->rehighlight();
    const Shades tones = shades(QApplication::palette());
    setTextColor(m_outcome, m_failed ? tones.bad : tones.good);
}

void PatchBox::reload()
{
    if (!m_prepared || m_writing)
        return;
    setButtons(false);
    prepare();
}

void PatchBox::prepare()
{
    m_thread.start(
        [this, trace = m_trace, changes = m_changes](const std::stop_token&, const Background::Post& post) {
            post([this, patch = advisor::change::patchProgram(*trace, changes)] { showPatch(patch); });
        },
        [this](const profiler::Error& error) { showPatch(tl::unexpected(error)); });
}

void PatchBox::showPatch(const profiler::Result<advisor::change::ProgramPatch>& patch)
{
    if (!patch || patch->changes.empty()) {
        m_how->setText(patch ? tr("No change to show.") : asQString(patch.error().message()));
        return;
    }
    m_patch = *patch;
    const auto isDone = [&](const advisor::change::WantedChange& change) {
        return advisor::change::isApplied(m_patch, change);
    };
    const auto isDoneOrNoEdit = [&](const advisor::change::ChangeResult& change) {
        return change.how != advisor::change::How::Source || isDone({change.key, change.to});
    };
    m_applied = std::any_of(m_changes.begin(), m_changes.end(), isDone) &&
                std::all_of(m_patch.changes.begin(), m_patch.changes.end(), isDoneOrNoEdit);
    m_how->setText(m_applied ? tr("Your program already contains this change:") : howText(m_patch));
    const QString diff = asQString(m_patch.diff.empty() ? m_patch.changes.front().proposal : m_patch.diff).trimmed();
    m_diff->setPlainText(diff);
    const int lines = std::min(static_cast<int>(diff.count('\n')) + 1, kMostLines);
    m_diff->setFixedHeight(lines * m_diff->fontMetrics().lineSpacing() + 12 +
                           m_diff->horizontalScrollBar()->sizeHint().height());
    m_diff->setVisible(!diff.isEmpty());
    m_copy->setVisible(!diff.isEmpty());
    m_apply->setVisible(!m_patch.files.empty());
    setButtons(true);
}

void PatchBox::setButtons(bool enabled)
{
    m_apply->setEnabled(enabled && !m_applied);
    m_revert->setEnabled(enabled);
    m_revert->setVisible(m_applied);
}

void PatchBox::carryOut(Action action)
{
    m_writing = true;
    setButtons(false);
    m_thread.start(
        [this, action, trace = m_trace, changes = m_changes, patch = m_patch](const std::stop_token&,
                                                                              const Background::Post& post) {
            const auto originals = advisor::change::defaultOriginals();
            const Written written = !originals                ? Written(tl::unexpected(originals.error()))
                                    : action == Action::Apply ? advisor::change::applyPatch(patch, *originals)
                                                              : takeAllBack(*trace, changes, patch);
            post([this, action, written] { showOutcome(action, written); });
        },
        [this, action](const profiler::Error& error) { showOutcome(action, tl::unexpected(error)); });
}

void PatchBox::showOutcome(Action action, const profiler::Result<std::vector<std::filesystem::path>>& written)
{
    m_writing = false;
    m_failed = !written;
    if (written) {
        m_applied = action == Action::Apply;
        m_outcome->setText(
            (m_applied ? tr("%1 was changed. Revert undoes this change.") : tr("The change was removed from %1."))
                .arg(filesText(*written)));
    } else {
        m_outcome->setText(asQString(written.error().message()));
    }
    const Shades tones = shades(QApplication::palette());
    setTextColor(m_outcome, m_failed ? tones.bad : tones.good);
    m_outcome->show();
    setButtons(true);
    if (written)
        emit filesChanged();
}

} // namespace app
