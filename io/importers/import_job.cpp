#include "io/importers/import_job.hpp"

#include "base/error.hpp"

namespace crossbow {
namespace {

constexpr std::size_t most_told = 10;

}  // namespace

std::string to_string(Split split) {
  return split == Split::train ? "train" : "test";
}

void ImportFaults::add(const std::string& where, const std::string& what) {
  ++count_;
  if (first_.size() < most_told) {
    first_.push_back(printable(where) + ": " + printable(what));
  }
}

std::string ImportFaults::list() const {
  std::string text;
  for (const std::string& fault : first_) {
    text += "\n  " + fault;
  }
  const std::int64_t more = count_ - static_cast<std::int64_t>(first_.size());
  return more == 0 ? text : text + "\n  and " + std::to_string(more) + " more";
}

void check_faults(const ImportFaults& faults,
                  const ImportOptions& options,
                  std::int64_t samples_left,
                  const std::string& source) {
  const bool is_good = faults.count() == 0 || (options.skip_bad && samples_left > 0);
  if (is_good) {
    return;
  }
  const std::string number =
      faults.count() == 1 ? "1 fault" : std::to_string(faults.count()) + " faults";
  const std::string remedy =
      samples_left == 0 ? "No sample is good; take another copy of it"
                        : "Mend it, or leave the bad samples out with `crossbow import "
                          "--on-error skip`";
  throw Error(ExitCode::data,
              printable(source) + " has " + number + ":" + faults.list() + "\n" + remedy);
}

void report_progress(const ImportOptions& options,
                     const char* step,
                     std::int64_t done,
                     std::int64_t total) {
  if (options.progress) {
    options.progress(step, done, total);
  }
}

}  // namespace crossbow
