// What the user or the scheduler asked this process by signal. A handler only sets a flag; who
// works asks for it. SIGUSR1: 85, SIGINT: 130, SIGTERM: 143 (the exit codes). Knows no run.
#pragma once

namespace kdgat {

/// From now on until install_signal_flags(), SIGINT and SIGTERM end the process at once with the
/// exit codes above, whatever it waits for. A signal that the caller ignores stays ignored.
void exit_on_signals();

/// Catches SIGINT, SIGTERM and SIGUSR1 and ignores SIGPIPE and SIGXFSZ, from now on.
void install_signal_flags();

/// 0, or the exit code asked for. A later SIGINT or SIGTERM replaces a SIGUSR1.
int pending_signal();

/// Whether a SIGINT came after a SIGINT or SIGTERM: stop at once. A SIGTERM may come twice from a
/// scheduler that sends it to every process of a job, one of which passes it on.
bool is_urgent();

/// Forgets what came; for tests.
void reset_signal_flags();

}  // namespace kdgat
