#pragma once

#include "app/configuration/configuration_model.h"
#include "app/document/job_document.h"
#include "app/document/trace_document.h"
#include "app/document/trace_pair.h"
#include "app/report/report_saver.h"
#include "app/services/experiment_service.h"
#include "app/services/job_guard.h"
#include "app/services/journal.h"
#include "app/services/level_costs.h"
#include "app/services/machine_state.h"
#include "app/services/notices.h"
#include "app/services/recording_service.h"
#include "app/services/remote_trace_service.h"
#include "app/services/run_store.h"
#include "app/services/state_store.h"
#include "app/services/training_service.h"
#include "app/services/trust_store.h"
#include "app/services/tuning_service.h"

namespace app {

/// The services and the documents of a window. They are created and destroyed in the order of their dependencies. Views
/// and services receive those that they use, never the workbench.
struct Workbench {
    Workbench()
    {
        QObject::connect(&document, &TraceDocument::configurationFound, &configuration, &ConfigurationModel::set);
        QObject::connect(&document, &TraceDocument::configurationRead, &configuration, &ConfigurationModel::setLoaded);
        QObject::connect(&document, &TraceDocument::configurationRefused, &configuration, &ConfigurationModel::refuse);
        QObject::connect(&remote, &RemoteTraceService::jobOpened, &job, &JobDocument::showRemote);
        QObject::connect(&job, &JobDocument::remoteTraceWanted, &remote, &RemoteTraceService::openRank);
        QObject::connect(&job, &JobDocument::remoteRanksWanted, &remote,
                         [this](const std::vector<std::int64_t>& ranks, std::optional<std::int64_t> step) {
                             remote.openRanks({ranks, step});
                         });
        QObject::connect(&remote, &RemoteTraceService::ranksOpened, &job, &JobDocument::takeRemoteRanks);
        // What the user opens last supersedes what is being opened on another machine.
        QObject::connect(&job, &JobDocument::loading, &remote, [this](const QString&, double share) {
            if (share == 0 && remote.isOpening())
                remote.cancelOpening();
        });
        QObject::connect(&document, &TraceDocument::loading, &remote, [this](const QString&, double share) {
            if (share == 0 && document.isLoading() && remote.isOpening())
                remote.cancelOpening();
        });
        QObject::connect(&job, &JobDocument::changed, &remote, [this] {
            if (!job.needsConnection())
                remote.leaveJob();
        });
    }
    Workbench(const Workbench&) = delete;
    Workbench& operator=(const Workbench&) = delete;

    Notices notices;
    MachineState machine;
    ConfigurationModel configuration{&notices};
    TrustStore trust{&notices, &configuration};
    JobGuard jobs{&notices};
    RunStore runs{&notices};
    TraceDocument document{&notices, &runs};
    TracePair pair{&notices, &runs, &document}; ///< `document` and a second one beside it
    RemoteTraceService remote{&notices, &document};
    JobDocument job{&notices, &document}; ///< `document` shows its ranks
    TrainingService training{&notices, &configuration, &trust, &jobs, &runs, &document};
    JournalStore journal{&notices, &configuration, &document};
    ExperimentService experiments{&notices, &configuration, &trust, &jobs, &document, &journal, &training};
    TuningService tuning{&notices, &configuration, &trust, &jobs, &document, &journal};
    RecordingService recording{&jobs, &document};
    LevelCostMeasurer levelCosts{&notices, &configuration, &trust, &jobs, &document};
    ReportSaver reports{&notices, &document, &journal, &tuning};
    /// Destroyed first: the others may wait for seconds, and a window that opens during that time continues from the
    /// saved state.
    StateStore state{&notices, &configuration, &journal};
};

} // namespace app
