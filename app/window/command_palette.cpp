#include "app/window/command_palette.h"

#include "app/look/icon.h"
#include "app/look/theme.h"
#include "profiler/model/track_slices.h"

#include <QAbstractListModel>
#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace app {

namespace {

constexpr std::size_t kMostShown = 200; ///< enough to read; a longer list takes longer to lay out
constexpr int kMostRows = 12, kWidth = 640, kMargin = 20;
constexpr int kTextMargin = 10; ///< pixels at the left and right of a row

// Scores. Any whole word beats any scattered match, and its position decides between whole words.
constexpr int kWhole = 1000, kWordStart = 300, kTextStart = 200, kEqual = 400;
constexpr int kLetterAtWordStart = 40, kLetterAfterLetter = 20;
constexpr int kMostGap = 300, kMostLength = 100;
constexpr int kElsewhere = 500; ///< penalty of a match in the context instead of the title

QChar folded(QChar letter)
{
    const ushort code = letter.unicode();
    if (code < 128)
        return code >= 'A' && code <= 'Z' ? QChar(code + ('a' - 'A')) : letter;
    return letter.toCaseFolded();
}

bool startsWord(QStringView text, qsizetype at)
{
    if (at == 0)
        return true;
    const QChar before = text[at - 1], letter = text[at];
    return (!before.isLetterOrNumber() && letter.isLetterOrNumber()) || (before.isLower() && letter.isUpper());
}

/// The position of a folded word in a text, preferably at the start of a word; −1: none.
qsizetype wholeAt(QStringView word, QStringView text)
{
    qsizetype found = -1;
    for (qsizetype at = 0; at + word.size() <= text.size(); ++at) {
        qsizetype same = 0;
        while (same < word.size() && folded(text[at + same]) == word[same])
            ++same;
        if (same < word.size())
            continue;
        if (startsWord(text, at))
            return at;
        if (found < 0)
            found = at;
    }
    return found;
}

/// The score of letters in their order. The last possible start of the first possible end gives a short span.
std::optional<int> scatteredScore(QStringView word, QStringView text)
{
    qsizetype next = 0, end = 0;
    for (; end < text.size() && next < word.size(); ++end)
        next += folded(text[end]) == word[next];
    if (next < word.size())
        return std::nullopt;
    int score = 0;
    qsizetype start = end, later = -1;
    while (next > 0) {
        --start;
        if (folded(text[start]) != word[next - 1])
            continue;
        --next;
        score += startsWord(text, start) ? kLetterAtWordStart : 0;
        score += later == start + 1 ? kLetterAfterLetter : 0;
        later = start;
    }
    return score - static_cast<int>(std::min<qsizetype>(kMostGap, 4 * (end - start - word.size())));
}

std::optional<int> wordScore(QStringView word, QStringView text)
{
    const int length = static_cast<int>(std::min<qsizetype>(kMostLength, text.size() - word.size()));
    if (const qsizetype at = wholeAt(word, text); at >= 0)
        return kWhole + (startsWord(text, at) ? kWordStart : 0) + (at == 0 ? kTextStart : 0) +
               (word.size() == text.size() ? kEqual : 0) - length;
    const auto scattered = scatteredScore(word, text);
    return scattered ? std::optional(*scattered - length) : std::nullopt;
}

std::vector<QString> wordsOf(QStringView pattern)
{
    std::vector<QString> words;
    for (const QStringView word : pattern.split(u' ', Qt::SkipEmptyParts)) {
        QString plain;
        for (const QChar letter : word)
            plain += folded(letter);
        words.push_back(plain);
    }
    return words;
}

std::optional<int> entryScore(const std::vector<QString>& words, const PaletteEntry& entry)
{
    int score = 0;
    for (const QString& word : words) {
        auto found = wordScore(word, entry.title);
        if (const auto other = wordScore(word, entry.context); other && (!found || *other - kElsewhere > *found))
            found = *other - kElsewhere;
        if (!found)
            return std::nullopt;
        score += *found;
    }
    return score;
}

/// Draws title, context and shortcut in one line.
class EntryDelegate : public QStyledItemDelegate {
public:
    enum Role { Context = Qt::UserRole, Shortcut };

    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem row = option;
        initStyleOption(&row, index);
        const bool selected = row.state.testFlag(QStyle::State_Selected);
        const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
        const QColor text = row.palette.color(enabled ? QPalette::Active : QPalette::Disabled,
                                              selected ? QPalette::HighlightedText : QPalette::Text);
        const QColor dim = selected || !enabled ? text : shades(row.palette).muted;
        if (selected)
            painter->fillRect(row.rect, row.palette.color(QPalette::Active, QPalette::Highlight));
        const QRect line = row.rect.adjusted(kTextMargin, 0, -kTextMargin, 0);
        const QFontMetrics metrics(row.font);
        painter->setFont(row.font);
        const auto draw = [&](const QRect& where, int align, const QString& what, const QColor& color) {
            painter->setPen(color);
            painter->drawText(where, align | Qt::AlignVCenter | Qt::TextSingleLine, what);
        };
        const QString shortcut = index.data(Shortcut).toString();
        const int right = shortcut.isEmpty() ? 0 : metrics.horizontalAdvance(shortcut) + 16;
        draw(line, Qt::AlignRight, shortcut, dim);
        const int room = line.width() - right;
        QString title = index.data(Qt::DisplayRole).toString();
        if (index.data(Qt::CheckStateRole).toInt() == Qt::Checked)
            title += QStringLiteral(" ✓");
        const QString shown = metrics.elidedText(title, Qt::ElideMiddle, room);
        draw(line, Qt::AlignLeft, shown, text);
        const int used = metrics.horizontalAdvance(shown) + 10;
        if (used < room)
            draw(line.adjusted(used, 0, -right, 0), Qt::AlignLeft,
                 metrics.elidedText(index.data(Context).toString(), Qt::ElideRight, room - used), dim);
    }

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return {0, option.fontMetrics.height() + 9};
    }
};

} // namespace

std::optional<int> matchScore(QStringView pattern, QStringView text)
{
    int score = 0;
    for (const QString& word : wordsOf(pattern)) {
        const auto found = wordScore(word, text);
        if (!found)
            return std::nullopt;
        score += *found;
    }
    return score;
}

std::vector<std::size_t> bestEntries(const std::vector<PaletteEntry>& entries, QStringView pattern, std::size_t most,
                                     const std::vector<std::size_t>* within, std::vector<std::size_t>* matching)
{
    const std::vector<QString> words = wordsOf(pattern);
    struct Match {
        int score;
        std::size_t entry;
    };
    std::vector<Match> found;
    const std::size_t count = within ? within->size() : entries.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t entry = within ? (*within)[i] : i;
        if (const auto score = entryScore(words, entries[entry]))
            found.push_back({*score, entry});
    }
    if (matching) {
        matching->clear();
        for (const Match& match : found)
            matching->push_back(match.entry);
    }
    const auto better = [&](const Match& a, const Match& b) {
        if (a.score != b.score)
            return a.score > b.score;
        if (entries[a.entry].rank != entries[b.entry].rank)
            return entries[a.entry].rank < entries[b.entry].rank;
        return a.entry < b.entry;
    };
    const auto shown = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
    std::partial_sort(found.begin(), shown, found.end(), better);
    std::vector<std::size_t> best;
    for (auto match = found.begin(); match != shown; ++match)
        best.push_back(match->entry);
    return best;
}

class CommandPalette::Model : public QAbstractListModel {
public:
    Model(const std::vector<PaletteEntry>& entries, QObject* parent) : QAbstractListModel(parent), m_entries(entries) {}

    void show(std::vector<std::size_t> shown)
    {
        beginResetModel();
        m_shown = std::move(shown);
        endResetModel();
    }
    [[nodiscard]] const PaletteEntry& at(const QModelIndex& index) const
    {
        return m_entries[m_shown[static_cast<std::size_t>(index.row())]];
    }
    [[nodiscard]] int rowCount(const QModelIndex& parent) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
    }
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override
    {
        return at(index).enabled ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override
    {
        const PaletteEntry& entry = at(index);
        switch (role) {
        case Qt::DisplayRole:
            return entry.title;
        case Qt::CheckStateRole:
            return entry.checked ? Qt::Checked : Qt::Unchecked;
        case EntryDelegate::Context:
            return entry.context;
        case EntryDelegate::Shortcut:
            return entry.shortcut;
        case Qt::AccessibleTextRole:
            return QStringList{entry.title, entry.context, entry.shortcut}.join(QStringLiteral(", "));
        default:
            return {};
        }
    }

private:
    const std::vector<PaletteEntry>& m_entries;
    std::vector<std::size_t> m_shown;
};

CommandPalette::CommandPalette(QWidget* window)
    : QFrame(window), m_text(new QLineEdit(this)), m_list(new QListView(this)), m_model(new Model(m_entries, this))
{
    setObjectName("commandPalette");
    setAccessibleName(tr("Commands"));
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    m_text->setObjectName("commandText");
    m_text->setPlaceholderText(tr("Command, view, setting or slice name"));
    m_text->setAccessibleName(m_text->placeholderText());
    m_text->addAction(icon("search", QPalette::PlaceholderText), QLineEdit::LeadingPosition);
    m_text->installEventFilter(this);
    m_list->setObjectName("commandList");
    m_list->setAccessibleName(tr("Matching commands"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setUniformItemSizes(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setItemDelegate(new EntryDelegate(m_list));
    m_list->setModel(m_model);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->addWidget(m_text);
    column->addWidget(m_list);
    connect(m_text, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QListView::clicked, this, &CommandPalette::runCurrent);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (isVisible() && now && !isAncestorOf(now))
            leave(false);
    });
    window->installEventFilter(this);
    hide();
}

void CommandPalette::open(std::vector<PaletteEntry> entries)
{
    if (!isVisible())
        m_before = window()->focusWidget();
    m_model->show({}); // it refers to the previous entries
    m_entries = std::move(entries);
    m_matching.clear();
    m_pattern.clear();
    {
        const QSignalBlocker quiet(m_text);
        m_text->clear();
    }
    filter();
    show();
    raise();
    m_text->setFocus(Qt::ShortcutFocusReason);
}

void CommandPalette::add(std::vector<PaletteEntry> entries)
{
    m_model->show({});
    std::move(entries.begin(), entries.end(), std::back_inserter(m_entries));
    m_matching.clear();
    m_pattern.clear();
    filter();
}

void CommandPalette::filter()
{
    const QString pattern = m_text->text();
    // A longer pattern matches no more than the shorter one.
    const bool narrows = !m_pattern.trimmed().isEmpty() && pattern.startsWith(m_pattern);
    std::vector<std::size_t> matching;
    m_model->show(bestEntries(m_entries, pattern, kMostShown, narrows ? &m_matching : nullptr, &matching));
    m_matching = std::move(matching);
    m_pattern = pattern;
    for (int row = 0; row < m_model->rowCount({}); ++row)
        if (m_model->flags(m_model->index(row)).testFlag(Qt::ItemIsEnabled)) {
            m_list->setCurrentIndex(m_model->index(row));
            break;
        }
    m_list->scrollToTop();
    place();
}

void CommandPalette::place()
{
    const QWidget* window = parentWidget();
    const int rows = std::clamp(m_model->rowCount({}), 1, kMostRows);
    const int row = m_list->sizeHintForRow(0) > 0 ? m_list->sizeHintForRow(0) : fontMetrics().height() + 9;
    m_list->setFixedHeight(std::min(rows * row, window->height() - 5 * kMargin));
    const int width = std::min(kWidth, window->width() - 2 * kMargin);
    setGeometry((window->width() - width) / 2, 2 * kMargin, width, layout()->totalSizeHint().height());
}

void CommandPalette::moveCurrent(int by)
{
    const int step = by < 0 ? -1 : 1;
    int row = m_list->currentIndex().row();
    for (int left = std::abs(by); left > 0; --left) {
        int next = row + step;
        while (next >= 0 && next < m_model->rowCount({}) &&
               !m_model->flags(m_model->index(next)).testFlag(Qt::ItemIsEnabled))
            next += step;
        if (next < 0 || next >= m_model->rowCount({}))
            break;
        row = next;
    }
    if (row >= 0)
        m_list->setCurrentIndex(m_model->index(row));
}

void CommandPalette::runCurrent()
{
    const QModelIndex current = m_list->currentIndex();
    if (!current.isValid() || !m_model->at(current).enabled)
        return;
    const std::function<void()> run = m_model->at(current).run;
    leave(true);
    if (run)
        run();
}

void CommandPalette::leave(bool returnFocus)
{
    hide();
    if (returnFocus && m_before)
        m_before->setFocus(Qt::OtherFocusReason);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget()) {
        if (event->type() == QEvent::Resize && isVisible())
            place();
        return false;
    }
    // Keys that move in the list must not be taken by shortcuts of the window.
    if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride)
        return QFrame::eventFilter(watched, event);
    const bool press = event->type() == QEvent::KeyPress;
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Escape:
        if (press)
            leave(true);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (press)
            runCurrent();
        break;
    case Qt::Key_Up:
        if (press)
            moveCurrent(-1);
        break;
    case Qt::Key_Down:
        if (press)
            moveCurrent(1);
        break;
    case Qt::Key_PageUp:
        if (press)
            moveCurrent(-kMostRows);
        break;
    case Qt::Key_PageDown:
        if (press)
            moveCurrent(kMostRows);
        break;
    default:
        return QFrame::eventFilter(watched, event);
    }
    event->accept();
    return true;
}

void CommandPalette::paintEvent(QPaintEvent* event)
{
    QFrame::paintEvent(event);
    QPainter painter(this);
    painter.setPen(shades(palette()).line);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

std::vector<SliceName> sliceNames(const profiler::Trace& trace, std::size_t most, const std::stop_token& stop)
{
    std::vector<std::uint64_t> counts(trace.stringCount());
    for (const profiler::Track& track : trace.tracks())
        for (const profiler::BlockRef& ref : trace.slicesOf(track.id).blocks) {
            if (stop.stop_requested())
                return {};
            const profiler::BlockPin block = ref.pin();
            for (std::uint32_t i = 0; block && i < block->size(); ++i)
                if (const std::uint32_t name = block->columns.name(i); name < counts.size())
                    ++counts[name];
        }
    std::vector<SliceName> names;
    for (std::uint32_t id = 0; id < counts.size(); ++id)
        if (counts[id] > 0)
            names.push_back({profiler::StringId{id}, counts[id]});
    const auto kept = names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()));
    std::partial_sort(names.begin(), kept, names.end(), [](const SliceName& a, const SliceName& b) {
        return a.slices != b.slices ? a.slices > b.slices : a.name.value < b.name.value;
    });
    names.erase(kept, names.end());
    return names;
}

} // namespace app
