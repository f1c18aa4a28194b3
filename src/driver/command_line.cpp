#include "driver/command_line.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/build_info.hpp"
#include "base/exit_code.hpp"

#include "io/importers/importer.hpp"
#include "kernels/instance.hpp"

#include "driver/commands.hpp"

namespace crossbow {
namespace {

void add_overrides(CLI::App* command, DeckRequest& deck) {
  command->add_option(
      "overrides", deck.overrides, "keys set over the deck's: section.key=value ...");
}

void add_deck(CLI::App* command, DeckRequest& deck) {
  command->add_option("deck", deck.path, "input deck (TOML)")->required();
  add_overrides(command, deck);
}

/// An option that is given must say something: an unset variable of a shell does not.
std::string not_empty(const std::string& text) {
  return text.empty() ? "it is empty" : "";
}

void add_search(CLI::App* command, DataSearch& search) {
  command
      ->add_option("--data-path", search.extra_paths, "folder to look for data in, first")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
}

constexpr const char* bench_help =
    "sync %: throughput lost against the same learners with period \"never\", measured "
    "by\n"
    "  turns; -: the method has no such comparison (learners at their own pace, or "
    "never\n"
    "  averaged). sync ms: the same of a round. Below zero it is noise: take more "
    "--windows.\n"
    "sync MB: bytes that averaging moves in a round beyond the learners' own steps, "
    "counted\n"
    "  from its kernels. memory ms: what they would take at the rate that as many "
    "learners\n"
    "  get of memory; ratio: sync ms over that. A small model stays in the caches and "
    "costs\n"
    "  less; above about 1 it is waiting, not memory, that costs.\n"
    "--kernels: medians of rounds that wait after each layer; sum/round is their sum "
    "over\n"
    "  rounds without such waits.";

/// The command and its options; `status` is set when it has run.
class CommandLine {
 public:
  explicit CommandLine(char** argv) : argv_(argv) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", fmt::format("crossbow {}", build_info::version));
    app_.footer(
        "Exit status: 0 done, 1 internal error, 2 command line or deck, 3 data or file,\n"
        "4 a NaN or Inf in training, 5 device, 75 stopped with a checkpoint (resume).");
    add_run();
    add_check();
    add_bench();
    add_topology();
    add_model();
    add_keys();
    add_import();
    add_inspect();
    add_evaluate();
    add_predict();
    add_export();
    add_import_weights();
    add_compare();
  }

  CLI::App& app() { return app_; }
  int status() const { return status_; }

 private:
  void add_run() {
    CLI::App* command = app_.add_subcommand("run", "train as an input deck says");
    add_deck(command, run_.deck);
    add_search(command, run_.deck.search);
    CLI::Option* resume = command->add_flag(
        "--resume", run_.resume.resume, "go on from the newest checkpoint in run.output");
    command
        ->add_flag("--override",
                   run_.resume.override_deck,
                   "go on although deck or data are not those of the checkpoint")
        ->needs(resume);
    command->add_option("--json", run_.json, "write the figures of the run to a file")
        ->type_name("FILE");
    command->callback([this] { status_ = run_command(run_, argv_); });
  }

  void add_check() {
    CLI::App* command = app_.add_subcommand(
        "check", "check a deck, its data and its network; train nothing");
    add_deck(command, check_);
    add_search(command, check_.search);
    command->callback([this] { status_ = check_command(check_, argv_); });
  }

  void add_bench() {
    CLI::App* command = app_.add_subcommand("bench",
                                            "measure images/s of a deck's network by "
                                            "batch and learners, what synchronisation "
                                            "costs, and time by kernel");
    add_deck(command, bench_.deck);
    add_search(command, bench_.deck.search);
    command->add_option("--batches", bench_.batches, "batches per learner")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    command->add_option("--learners", bench_.learners, "numbers of learners per device")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command->add_flag(
        "--kernels", bench_.kernels, "also the time by kernel of a learner");
    command->add_option("--window", bench_.time.window, "seconds of a measurement")
        ->check(CLI::Range(0.05, 3600.0))
        ->capture_default_str();
    command
        ->add_option(
            "--windows", bench_.time.windows, "measurements; their median counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command->add_option("--json", bench_.json, "write the tables to a file")
        ->type_name("FILE");
    command->footer(bench_help);
    command->callback([this] { status_ = bench_command(bench_, argv_); });
  }

  void add_topology() {
    CLI::App* command = app_.add_subcommand(
        "topology",
        "show a machine, where learners would run on it, and how they would be averaged");
    CLI::Option* xml =
        command->add_option("--xml", topology_.xml, "a machine that lstopo has written")
            ->type_name("FILE")
            ->check(not_empty);
    command
        ->add_option(
            "--synthetic", topology_.synthetic, "a machine in hwloc's synthetic notation")
        ->type_name("TEXT")
        ->check(not_empty)
        ->excludes(xml);
    command->add_flag("--host", topology_.host, "use its cores, whatever GPUs it has");
    command->add_option("--learners", topology_.learners, "learners on each device")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command->add_option("--threads", topology_.threads, "threads of each learner")
        ->check(CLI::Range(1, most_threads))
        ->capture_default_str();
    command->add_option("--domain", topology_.domain, "what a device of a host is")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, HostDomain>{{"machine", HostDomain::machine},
                                              {"numa", HostDomain::numa},
                                              {"package", HostDomain::package},
                                              {"l3", HostDomain::l3},
                                              {"core", HostDomain::core}}))
        ->option_text("machine|numa|package|l3|core [numa]");
    command->add_option("--model", topology_.model_bytes, "size of the model [bytes]")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 50))
        ->capture_default_str();
    command
        ->add_option("--json",
                     topology_.json,
                     "write it as data, which devices.plan takes; no file: to standard "
                     "output")
        ->type_name("[FILE]")
        ->expected(0, 1);
    command->add_option("--svg", topology_.svg, "write a picture")
        ->type_name("FILE")
        ->check(not_empty);
    command->callback([this] { status_ = topology_command(topology_); });
  }

  void add_model() {
    CLI::App* command = app_.add_subcommand(
        "model", "show a network: layers, shapes, parameters, FLOP, memory");
    command->add_option("network", model_.model, "name of a network, or an input deck")
        ->required();
    command->add_option(
        "overrides", model_.overrides, "keys set over the deck's: section.key=value ...");
    command->add_option("--image", model_.image, "size of the images, as in 32x32x3")
        ->type_name("HxWxC")
        ->check(not_empty);
    command->add_option("--classes", model_.classes, "number of classes")
        ->check(CLI::Range(1, 1 << 24));
    command->add_flag("--toml", model_.toml, "write it as the layers of a deck, to edit");
    add_search(command, model_.search);
    command->callback([this] { status_ = model_command(model_); });
  }

  void add_keys() {
    CLI::App* command = app_.add_subcommand(
        "keys", "write the reference of all keys of a deck (Markdown)");
    command->add_option("file", keys_file_, "where to (none: standard output)");
    command->callback([this] { status_ = keys_command(keys_file_); });
  }

  void add_import() {
    CLI::App* command = app_.add_subcommand("import", "write an HDF5 data set");
    std::string formats = "what the source is";
    for (const Importer& importer : importers()) {
      formats += fmt::format("\n{}: {}", importer.name, importer.help);
    }
    command->add_option("format", import_.format, formats)->required();
    command->add_option("source", import_.source, "what to import")->required();
    command->add_option("file", import_.file, "the HDF5 file to write")->required();
    command->add_option("--split", import_.split, "train or test")->capture_default_str();
    command
        ->add_option("--on-error",
                     import_.on_error,
                     "stop at bad samples and write nothing, or skip them")
        ->type_name("stop|skip")
        ->capture_default_str();
    command->add_flag("--decode", import_.decode, "keep JPEG files as pixels");
    command->callback([this] { status_ = import_command(import_); });
  }

  void add_inspect() {
    CLI::App* command =
        app_.add_subcommand("inspect", "show what an HDF5 data set holds");
    command->add_option("file", inspect_.file, "data set")->required();
    command->add_option("--png", inspect_.png, "write a picture of some samples")
        ->type_name("FILE")
        ->check(not_empty);
    command->callback([this] { status_ = inspect_command(inspect_); });
  }

  void add_evaluate() {
    CLI::App* command =
        app_.add_subcommand("evaluate", "test the average model of a checkpoint");
    command->add_option("checkpoint", evaluate_.checkpoint, "checkpoint file")
        ->required();
    command
        ->add_option(
            "data", evaluate_.data, "test set: HDF5 file, what import takes, or name")
        ->required();
    command->add_option("--logits", evaluate_.logits, "write each image's logits (.npz)")
        ->type_name("FILE");
    add_search(command, evaluate_.search);
    command->callback([this] { status_ = evaluate_command(evaluate_); });
  }

  void add_predict() {
    CLI::App* command = app_.add_subcommand(
        "predict", "print what the average model of a checkpoint takes images for");
    command->add_option("checkpoint", predict_.checkpoint, "checkpoint file")->required();
    command->add_option("images", predict_.images, "JPEG and PNG files")->required();
    command->add_option("--top", predict_.top, "how many classes to print for each")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->callback([this] { status_ = predict_command(predict_); });
  }

  void add_export() {
    CLI::App* command = app_.add_subcommand(
        "export", "write the average model of a checkpoint, and nothing else of it");
    command->add_option("checkpoint", export_.checkpoint, "checkpoint file")->required();
    command
        ->add_option("file",
                     export_.file,
                     "the file to write: *.h5 (a checkpoint), *.npz (numpy) or *.onnx")
        ->required();
    command->callback([this] { status_ = export_command(export_); });
  }

  void add_import_weights() {
    CLI::App* command = app_.add_subcommand(
        "import-weights", "make weights from elsewhere a model that evaluate takes");
    ImportWeightsRequest& request = import_weights_;
    command
        ->add_option(
            "weights", request.weights, "*.npz (numpy), or *.h5 (a checkpoint's average)")
        ->required();
    command->add_option("deck", request.deck.path, "input deck (TOML)")->required();
    command->add_option("file", request.file, "the HDF5 file to write")->required();
    add_overrides(command, request.deck);
    add_search(command, request.deck.search);
    command->callback([this] { status_ = import_weights_command(import_weights_); });
  }

  void add_compare() {
    CLI::App* command =
        app_.add_subcommand("compare",
                            "compare runs with a regression case: the median over runs, "
                            "band by band; exit status 1 if one is not kept");
    command->add_option("runs", compare_.runs, "folders of runs, then the case's folder")
        ->required()
        ->expected(2, -1);
    command->add_option(
        "--renew", compare_.renew, "make the runs the case's reference, for this reason");
    command->callback([this] {
      compare_.reference = compare_.runs.back();
      compare_.runs.pop_back();
      status_ = compare_command(compare_);
    });
  }

  CLI::App app_{"Crossbow: trains deep networks with small batches on one node"};
  char** argv_;
  int status_ = 0;
  RunRequest run_;
  DeckRequest check_;
  BenchRequest bench_;
  TopologyRequest topology_;
  std::string keys_file_;
  ImportRequest import_;
  InspectRequest inspect_;
  EvaluateRequest evaluate_;
  PredictRequest predict_;
  ExportRequest export_;
  ModelRequest model_;
  ImportWeightsRequest import_weights_;
  CompareRequest compare_;
};

}  // namespace

int run_command_line(int argc, char** argv) {
  CommandLine line(argv);
  try {
    line.app().parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help and complaints; its own status numbers mean nothing to our users.
    return line.app().exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  return line.status();
}

}  // namespace crossbow
