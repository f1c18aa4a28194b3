// crossbow_oracle: runs trajectories of the oracle with the program's own trainer, with
// vendor and with reference kernels, and prints how far it comes out from each.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include "base/error.hpp"

#include "kernels/instance.hpp"

#include "regression/oracle_distance.hpp"

namespace crossbow {
namespace {

struct Request {
  std::vector<std::string> files;
  std::vector<std::string> changes;  // "attribute=value"
};

void tell(const std::string& line) {
  std::fprintf(stderr, "crossbow_oracle: %s\n", line.c_str());
}

/// Several complaints about a deck, a line each, become one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Run one case and describe it on the rest of its line; true if all is near.
bool check_case(const OracleCase& oracle, std::int64_t samples) {
  const PreparedRun run = prepare_oracle_run(oracle, samples);
  const OracleDistances vendor =
      distances(oracle, run_oracle_case(oracle, run, KernelSet::vendor));
  fmt::print("vendor: {}   ", to_string(vendor));
  std::fflush(stdout);
  const OracleDistances reference =
      distances(oracle, run_oracle_case(oracle, run, KernelSet::reference));
  fmt::print("reference: {}   ", to_string(reference));
  const bool good = is_near(vendor) && is_near(reference);
  if (good) {
    fmt::print("ok\n");
  } else {
    fmt::print("FAILED, over {:g}: {}\n",
               oracle_limit,
               far_places(is_near(vendor) ? reference : vendor));
  }
  return good;
}

/// Any failure is this file's alone: the others are still to be checked.
bool check_file(const std::string& path,
                const std::vector<std::string>& changes,
                std::int64_t samples) {
  bool good = false;
  try {
    good = check_case(read_oracle_case(path, changes), samples);
  } catch (const std::exception& error) {
    fmt::print("FAILED, cannot be run: {}\n", one_line(error.what()));
  }
  std::fflush(stdout);
  return good;
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

int check_all(const Request& request) {
  const std::int64_t samples = load_data(oracle_data, Split::train, {}, tell).n;
  std::size_t width = 0;
  for (const std::string& path : request.files) {
    width = std::max(width, name_of(path).size());
  }
  bool good = true;
  for (const std::string& path : request.files) {
    fmt::print("{:<{}}  ", name_of(path), width);
    good = check_file(path, request.changes, samples) && good;
  }
  return good ? 0 : 1;
}

/// What main does; CLI11's own exit statuses mean nothing to our users.
int run(int argc, char** argv) {
  Request request;
  CLI::App app(
      "Run trajectories of the oracle with the trainer and print how far each comes "
      "out,\n"
      "a line a file: the largest relative distance of losses, of the average model and\n"
      "of the replicas, with the vendor's and with the reference kernels. Exit status 1\n"
      "if a distance is over 1e-4 or a file cannot be run (regression/README.md).",
      "crossbow_oracle");
  app.add_option("FILE", request.files, "cases, regression/oracle/*.h5")->required();
  app.add_option("--set",
                 request.changes,
                 "attribute=value in place of what the files say; may be given again")
      ->allow_extra_args(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Kokkos::ScopeGuard kokkos(quiet_settings());
  return check_all(request);
}

}  // namespace
}  // namespace crossbow

int main(int argc, char** argv) {
  try {
    return crossbow::run(argc, argv);
  } catch (const std::exception& error) {
    crossbow::tell(error.what());
    return 1;
  }
}
