#include "app/window/trust_question.h"

#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr int kWidth = 560;

QLabel* makeTextLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QLabel* makeFact(const QString& name, const QString& text, QWidget* parent)
{
    QLabel* label = makeTextLabel(text, parent);
    label->setObjectName(name);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

/// Paths and hashes have no natural break points, so they are broken after a fixed number of characters.
QString breakable(const QString& text)
{
    QString broken;
    for (qsizetype i = 0; i < text.size(); ++i) {
        broken += text[i];
        if (i % 8 == 7)
            broken += QChar(0x200b);
    }
    return broken;
}

QString headingOf(const CodeFile& file)
{
    if (file.isProgram())
        return file.changedSince ? TrustQuestion::tr("This program has changed since you allowed it to run")
                                 : TrustQuestion::tr("Run this program?");
    return file.changedSince ? TrustQuestion::tr("This model file has changed since you trusted it")
                             : TrustQuestion::tr("This training runs code from a file");
}

QString kindOf(const CodeFile& file)
{
    const QString size = formatBytes(static_cast<double>(file.bytes));
    return file.isProgram()            ? TrustQuestion::tr("a program, %1").arg(size)
           : file.workload == "plugin" ? TrustQuestion::tr("a plug-in (shared library), %1").arg(size)
                                       : TrustQuestion::tr("a TorchScript model, %1").arg(size);
}

} // namespace

TrustQuestion::TrustQuestion(const CodeFile& file, QWidget* parent) : QDialog(parent), m_file(file)
{
    setObjectName("trustQuestion");
    setWindowTitle(file.isProgram() ? tr("Run a program?") : tr("Run code from a file?"));
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(kWidth);
    auto* heading = makeTextLabel(headingOf(file), this);
    QFont font = heading->font();
    font.setWeight(QFont::DemiBold);
    font.setPointSizeF(font.pointSizeF() * 1.25);
    heading->setFont(font);
    auto* why = makeTextLabel(
        (file.isProgram()                  ? tr("Stepscope starts this program to record or measure it. ")
         : file.path.extension() == ".pt2" ? tr("A compiled model is a program. ")
         : file.workload == "plugin"
             ? tr("A plug-in is a program. ")
             : tr("A TorchScript file is a program: it can do more than compute a model, and it runs as soon as it "
                  "is loaded. ")) +
            tr("It runs with your permissions and can read, change and delete your files. Run it only if you trust "
               "its source."),
        this);
    why->setObjectName("why");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 18, 20, 14);
    layout->setSpacing(12);
    layout->addWidget(heading);
    layout->addWidget(why);
    layout->addWidget(makeFacts(file));
    layout->addStretch(1);
    layout->addWidget(makeButtons());
    connect(this, &QDialog::finished, this, [this] { emit answered(m_answer); });
}

QWidget* TrustQuestion::makeFacts(const CodeFile& file)
{
    auto* facts = new QWidget(this);
    auto* form = new QFormLayout(facts);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    const QString path = QString::fromStdString(file.path.string());
    auto* shownPath = makeFact("path", breakable(path), facts);
    shownPath->setAccessibleName(path);
    auto* hash = makeFact("sha256", breakable(file.sha256), facts);
    hash->setAccessibleName(file.sha256);
    hash->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    auto* copy = new QToolButton(facts);
    copy->setIcon(icon("copy"));
    copy->setAutoRaise(true);
    copy->setToolTip(tr("Copy the SHA-256"));
    copy->setAccessibleName(copy->toolTip());
    connect(copy, &QToolButton::clicked, this, [sha = file.sha256] { QApplication::clipboard()->setText(sha); });
    auto* hashLine = new QHBoxLayout;
    hashLine->addWidget(hash, 1);
    hashLine->addWidget(copy, 0, Qt::AlignTop);
    form->addRow(tr("What"), makeFact("what", kindOf(file), facts));
    if (file.isProgram()) {
        auto* command = makeFact("command", breakable(file.command), facts);
        command->setAccessibleName(file.command);
        command->setFont(hash->font());
        form->addRow(tr("Command"), command);
        form->addRow(tr("Directory"), makeFact("folder", breakable(file.folder), facts));
    }
    form->addRow(tr("File"), shownPath);
    form->addRow(tr("SHA-256"), hashLine);
    if (file.changedSince) {
        auto* changed = makeFact("changed",
                                 tr("Different content was trusted on %1.")
                                     .arg(QLocale().toString(*file.changedSince, QLocale::ShortFormat)),
                                 facts);
        setTextColor(changed, shades(QApplication::palette()).warning);
        form->addRow(tr("Changed"), changed);
    }
    return facts;
}

QWidget* TrustQuestion::makeButtons()
{
    auto* bar = new QWidget(this);
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 4, 0, 0);
    const auto add = [&](const char* name, const QString& text, const QString& what, TrustStore::Answer answer) {
        auto* button = new QPushButton(text, bar);
        button->setObjectName(name);
        button->setToolTip(what);
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, [this, answer] {
            m_answer = answer;
            done(answer == TrustStore::Answer::No ? Rejected : Accepted);
        });
        layout->addWidget(button);
        return button;
    };
    add("runOnce", tr("Run it once"), tr("Ask again at the next start"), TrustStore::Answer::Once);
    layout->addStretch(1);
    auto* cancel = add("cancel", tr("Cancel"), tr("Do not start it"), TrustStore::Answer::No);
    add("trust", tr("Trust and run"),
        m_file.isProgram() ? tr("Ask again only when the command or the file changes")
                           : tr("Ask again only when the file changes"),
        TrustStore::Answer::Trust);
    cancel->setDefault(true);
    cancel->setFocus();
    return bar;
}

} // namespace app
