#include "pipeline/plugin/plugin_catalog.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "kdgat/stage_abi.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/show/text.h"
#include "pipeline/system/home_path.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

std::vector<PortDescription> read_ports(const nlohmann::json& list) {
  std::vector<PortDescription> ports;
  for (const nlohmann::json& item : list) {
    ports.push_back({item.at("name"), item.at("kind"), item.value("required", true),
                     item.value("many", false), item.value("domain", "")});
  }
  return ports;
}

/// Whether a text of a description is shown as it is: no control characters but the ends of lines.
bool is_shown_as_is(const nlohmann::json& json) {
  const auto is_clean = [](std::string text) {
    std::erase(text, '\n');
    return !holds_control(text);
  };
  if (json.is_string()) return is_clean(json.get<std::string>());
  if (!json.is_structured()) return true;
  for (const auto& [key, value] : json.items()) {
    if (!is_clean(json.is_object() ? key : "") || !is_shown_as_is(value)) return false;
  }
  return true;
}

/// A name that is the same in a folder, on a command line and in the script of a shell.
void check_name(const char* what, const std::string& name) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool is_plain = !name.empty() && name.front() != '-' && name.front() != '.' &&
                        name.find_first_not_of(kPlain) == std::string::npos;
  if (!is_plain) {
    throw std::runtime_error(std::string(what) + " \"" + name +
                             "\" holds more than letters, digits, _, - and .");
  }
}

PluginDescription read_description(const fs::path& path) {
  nlohmann::json json = load_object(path);
  if (!is_shown_as_is(json)) throw std::runtime_error("a text in it holds a control character");
  check_name("its name", json.at("name").get<std::string>());
  PluginDescription plugin;
  plugin.name = json.at("name");
  const std::string library = json.at("library");
  if (library.empty() || library == ".." || library.find('/') != std::string::npos) {
    throw std::runtime_error("its library \"" + library + "\" is no file of its folder");
  }
  plugin.library = path.parent_path() / library;
  plugin.description = path;
  plugin.abi_major = json.at("abi").at("major");
  plugin.abi_minor = json.at("abi").at("minor");
  plugin.version = json.at("version");
  plugin.summary = json.value("summary", "");
  plugin.runtime = json.value("runtime", "none");
  plugin.library_hash = json.at("library_hash");
  plugin.inputs = read_ports(json.at("inputs"));
  plugin.outputs = read_ports(json.at("outputs"));
  plugin.options = std::move(json.at("options"));  // most of what is read
  if (!plugin.options.is_object()) throw std::runtime_error("its options are not an object");
  for (const nlohmann::json& option : options_in(plugin.options)) {
    if (!option.is_object()) throw std::runtime_error("an option is not an object");
  }
  for (const std::string& name : option_names(plugin.options)) check_name("the option", name);
  for (const nlohmann::json& one : json.value("refused", nlohmann::json::array())) {
    PublishedKey& key = plugin.refused.emplace_back();
    key.name = one.value("name", "");
    key.neutral = one.value("neutral", std::vector<nlohmann::json>());
    key.reason = one.value("reason", "");
  }
  plugin.trains_in_ranks = json.value("trains_in_ranks", false);
  plugin.speaks = json.value("speaks", 0);
  plugin.model_file = json.value("model_file", kModelFile);
  if (plugin.model_file.empty() || fs::path(plugin.model_file).filename() != plugin.model_file) {
    throw std::runtime_error("its model file \"" + plugin.model_file + "\" is no name of a file");
  }
  plugin.stands_in_for = json.value("stands_in_for", "");
  plugin.published_names = json.value("published_names", std::vector<std::string>());
  if (json.contains("published")) plugin.published = json.at("published").get<PublishedProfile>();
  return plugin;
}

/// Whether a group is this user's own, as many systems make one for each user.
bool is_own_group(gid_t group) {
  const ::group* entry = ::getgrgid(group);
  const ::passwd* user = ::getpwuid(::geteuid());
  return entry != nullptr && user != nullptr && std::string(entry->gr_name) == user->pw_name;
}

/// Who but its owner and the system may change it, by its mode; "" for nobody.
std::string who_else_may_write(const struct stat& found) {
  if ((found.st_mode & S_IWOTH) != 0) return "everybody";
  const bool is_of_group = (found.st_mode & S_IWGRP) != 0 && found.st_gid != 0;
  return is_of_group && !is_own_group(found.st_gid) ? "a group" : "";
}

/// Who but this user and the system may change a file or what is in a folder; "" for nobody. What
/// the program's own owner may change is the program.
std::string who_may_write(const fs::path& path) {
  struct stat found {
  }, program{};
  if (::stat(path.c_str(), &found) != 0) return "";  // told by who reads it
  const bool is_known = found.st_uid == ::geteuid() || found.st_uid == 0 ||
                        (::stat("/proc/self/exe", &program) == 0 && found.st_uid == program.st_uid);
  if (!is_known) return "another user";
  return who_else_may_write(found);
}

[[noreturn]] void refuse(const fs::path& path, const std::string& who) {
  throw Error(ExitCode::kPlugin, "not used, as " + who + " may write to it",
              "take that away (chmod go-w), or name its folder with --plugin-dir", path.string());
}

/// Throws Error(kPlugin) if others may put something else in the place of `path`: a folder on the
/// way to it that others may write to, unless its sticky bit keeps the files of others, and a
/// symlink of another user. Follows each symlink on the way. A folder that holds this program as
/// well is as good as the program.
void check_way(const fs::path& path, const fs::path& program, int links_left = 20) {
  fs::path way;
  for (const fs::path& part : fs::absolute(path)) {
    way /= part;
    struct stat link {
    }, found{};
    if (::lstat(way.c_str(), &link) != 0 || ::stat(way.c_str(), &found) != 0) return;
    if (S_ISLNK(link.st_mode)) {
      if (link.st_uid != ::geteuid() && link.st_uid != 0) refuse(way, "another user");
      if (links_left == 0) refuse(way, "an endless chain of symlinks");
      check_way(way.parent_path() / fs::read_symlink(way), program, links_left - 1);
    }
    const bool holds_program =
        std::mismatch(way.begin(), way.end(), program.begin(), program.end()).first == way.end();
    if (!S_ISDIR(found.st_mode) || holds_program) continue;
    if ((found.st_mode & S_ISVTX) != 0) continue;
    if (const std::string who = who_else_may_write(found); !who.empty()) refuse(way, who);
  }
}

/// Checks what a plugin is made of that nobody asked for by its folder: throws Error(kPlugin) if
/// others may change the file or folder, or put another in its place.
void check_owner(const fs::path& path) {
  if (const std::string who = who_may_write(path); !who.empty()) refuse(path, who);
  std::error_code ignored;
  check_way(path, fs::read_symlink("/proc/self/exe", ignored));
}

bool has_kind(const std::vector<PortDescription>& ports, const std::string& kind) {
  return std::any_of(ports.begin(), ports.end(),
                     [&](const PortDescription& port) { return port.kind == kind; });
}

}  // namespace

bool PluginDescription::takes(const std::string& kind) const { return has_kind(inputs, kind); }
bool PluginDescription::makes(const std::string& kind) const { return has_kind(outputs, kind); }

const PublishedKey* PluginDescription::refused_key(const std::string& key) const {
  const auto found = std::find_if(refused.begin(), refused.end(),
                                  [&](const PublishedKey& one) { return one.name == key; });
  return found == refused.end() ? nullptr : &*found;
}

PluginCatalog PluginCatalog::scan(const std::vector<fs::path>& folders, std::size_t named) {
  PluginCatalog catalog;
  std::set<std::string> broken;  // hides those of later folders; one that is not used does not
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const fs::path& folder = folders[i];
    std::error_code ignored;
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with("kdgat_") && file.ends_with(".json")) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    for (const fs::path& path : found) {
      const std::string name = path.stem().string().substr(6);
      if (catalog.plugins_.contains(name) || broken.contains(name)) continue;
      const auto note_broken = [&](const std::string& where, const std::string& why) {
        broken.insert(name);
        catalog.problems_[name] = {
            where, "bad plugin description: " + why,
            "write it again: kdgat describe-plugin " + shell_line({"kdgat_" + name + ".so"})};
      };
      try {
        if (i >= named) check_owner(folder);
        if (i >= named) check_owner(path);
        PluginDescription plugin = read_description(path);
        if (i >= named) check_owner(plugin.library);
        if (plugin.name != name) throw std::runtime_error("describes \"" + plugin.name + "\"");
        catalog.add(std::move(plugin));
      } catch (const Error& e) {
        if (e.code() == ExitCode::kPlugin) {
          catalog.problems_.try_emplace(name, e.diagnostics().front());
          continue;
        }
        note_broken(e.diagnostics().front().where, e.diagnostics().front().message);
      } catch (const std::exception& e) {
        note_broken(path.string(), e.what());
      }
    }
  }
  return catalog;
}

std::vector<fs::path> PluginCatalog::search_path(const std::vector<fs::path>& first) {
  std::vector<fs::path> folders = first;
  if (const char* listed = std::getenv("KDGAT_PLUGIN_PATH")) {
    for (const std::string& part : parts_of(listed, ':')) {
      folders.emplace_back(expand_home_path(part));
    }
  }
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  if (!executable.empty()) folders.push_back(executable.parent_path() / "plugins");
  const char* data_home = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data_home != nullptr && *data_home != '\0') {
    folders.push_back(fs::path(data_home) / "kdgat/plugins");
  } else if (home != nullptr && *home != '\0') {
    folders.push_back(fs::path(home) / ".local/share/kdgat/plugins");
  }
  return folders;
}

const PluginDescription* PluginCatalog::find(const std::string& name) const {
  const auto found = plugins_.find(name);
  return found == plugins_.end() ? nullptr : &found->second;
}

const PluginDescription* PluginCatalog::find_taking(const std::string& kind) const {
  const auto takes = [&](bool stands_in) {
    return std::find_if(plugins_.begin(), plugins_.end(), [&](const auto& one) {
      return one.second.takes(kind) && one.second.stands_in_for.empty() != stands_in;
    });
  };
  const auto own = takes(false), found = own != plugins_.end() ? own : takes(true);
  return found == plugins_.end() ? nullptr : &found->second;
}

const PluginDescription* PluginCatalog::find_stand_in(const std::string& name) const {
  const auto found = std::find_if(plugins_.begin(), plugins_.end(), [&](const auto& one) {
    return one.second.stands_in_for == name;
  });
  return found == plugins_.end() ? nullptr : &found->second;
}

const PluginDescription* PluginCatalog::find_making(const std::string& kind) const {
  const auto found = std::find_if(plugins_.begin(), plugins_.end(),
                                  [&](const auto& one) { return one.second.makes(kind); });
  return found == plugins_.end() ? nullptr : &found->second;
}

int PluginCatalog::speaks(const std::string& stage) const {
  const PluginDescription* plugin = find(stage);
  return plugin == nullptr ? 0 : plugin->speaks;
}

std::string PluginCatalog::model_file(const std::string& stage) const {
  const PluginDescription* plugin = find(stage);
  return plugin == nullptr ? kModelFile : plugin->model_file;
}

std::vector<std::string> PluginCatalog::model_files() const {
  std::vector<std::string> out = {kModelFile};
  for (const auto& [name, plugin] : plugins_) {
    if (std::find(out.begin(), out.end(), plugin.model_file) == out.end()) {
      out.push_back(plugin.model_file);
    }
  }
  return out;
}

}  // namespace kdgat
