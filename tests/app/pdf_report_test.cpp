#include "app/report/pdf_report.h"
#include "app/report/report_document.h"
#include "app/report/svg_object.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QFile>
#include <QPdfWriter>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextTable>

using advisor::ReportModel;

namespace {

ReportModel modelWith(int tables)
{
    ReportModel model;
    model.title = "Training report: <b>convnet</b>";
    model.environment = {{"Model", "convnet"}};
    model.figures = {{"Duration of the steps", advisor::svg::lines({{"step", {1, 2, 3}}}, "ms", true), "Three steps."}};
    advisor::RuleAdvice found{"loader.workers", {}};
    found.advice.state = advisor::State::Fires;
    found.advice.title = "The step waits for data";
    found.advice.caveats = {"They share the cores."};
    model.advice = {found};
    for (int i = 0; i < tables; ++i)
        model.tables.push_back(
            {"Heading " + std::to_string(i), {"What", "Time"}, {{"aten::add", "1.00 ms"}}, "A step's."});
    model.code = {{"loader.workers", "loader = DataLoader(dataset)", "auto loader = 1;"}};
    return model;
}

/// A report laid out on pages of this height.
struct Paper {
    explicit Paper(const ReportModel& model, double height = 3000) : writer(&buffer)
    {
        buffer.open(QIODevice::WriteOnly);
        writer.setResolution(300);
        document.documentLayout()->setPaintDevice(&writer);
        document.setDocumentMargin(0);
        document.setPageSize({2000, height});
        app::fillDocument(document, model);
    }
    [[nodiscard]] int pageOf(const QTextBlock& block) const
    {
        return static_cast<int>(document.documentLayout()->blockBoundingRect(block).top() /
                                document.pageSize().height());
    }
    QBuffer buffer;
    QPdfWriter writer;
    QTextDocument document;
};

} // namespace

class PdfReportTest : public QObject {
    Q_OBJECT

private slots:
    void namesAreTextAndNeverMarkup();
    void figuresKeepTheirShape();
    void noHeadingEndsAPage();
    void isWrittenWholeOrNotAtAll();
};

void PdfReportTest::namesAreTextAndNeverMarkup()
{
    const Paper paper(modelWith(2));
    const QString text = paper.document.toPlainText();
    for (const char* part : {"Training report: <b>convnet</b>", "Duration of the steps", "The step waits for data",
                             "They share the cores.", "Heading 1", "aten::add", "DataLoader(dataset)"})
        QVERIFY2(text.contains(part), part);
}

void PdfReportTest::figuresKeepTheirShape()
{
    app::SvgObject object(nullptr);
    QTextCharFormat format;
    const std::string svg = advisor::svg::lines({{"step", {1, 2, 3}}}, "ms", true).svg;
    format.setProperty(app::SvgObject::kSvg, QByteArray::fromStdString(svg));
    format.setProperty(app::SvgObject::kWidth, 380.0);
    QCOMPARE(object.intrinsicSize(nullptr, 0, format), QSizeF(380, 110)); // half of 760 × 220

    QImage page(380, 110, QImage::Format_RGB32);
    page.fill(Qt::white);
    QPainter painter(&page);
    object.drawObject(&painter, QRectF(0, 0, 380, 110), nullptr, 0, format);
    painter.end();
    int coloured = 0;
    for (int x = 0; x < page.width(); ++x)
        for (int y = 0; y < page.height(); ++y) {
            const QColor at = page.pixelColor(x, y);
            coloured += at.blue() - at.red() > 60 ? 1 : 0;
        }
    QVERIFY(coloured > 100); // the line
}

void PdfReportTest::noHeadingEndsAPage()
{
    const Paper paper(modelWith(60), 1100);
    QVERIFY(paper.document.pageCount() > 5);
    int headings = 0;
    for (QTextBlock block = paper.document.begin(); block.isValid(); block = block.next())
        if (block.text().startsWith("Heading ")) {
            ++headings;
            QCOMPARE(paper.pageOf(block.next()), paper.pageOf(block));
        }
    QCOMPARE(headings, 60);
}

void PdfReportTest::isWrittenWholeOrNotAtAll()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("report.pdf");
    QVERIFY(app::writePdfReport(path.toStdString(), modelWith(3)));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray content = file.readAll();
    QVERIFY(content.startsWith("%PDF-") && content.trimmed().endsWith("%%EOF"));
    const auto failed = app::writePdfReport(folder.filePath("no/such/report.pdf").toStdString(), modelWith(1));
    QVERIFY(!failed);
    QVERIFY(QString::fromStdString(failed.error().message()).contains("cannot be written"));
}

QTEST_MAIN(PdfReportTest)
#include "pdf_report_test.moc"
