package bot_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

var cross = flag.Bool("cross", false, "build the program for each system of the release")

// minutes is a command that may take ten of them.
func minutes(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, program, args...)
	c.WaitDelay = time.Minute
	return c
}

// accepts checks that the program has a command with these flags.
func accepts(t *testing.T, words ...string) {
	t.Helper()
	code, _, failed := call(t.Context(), append(slices.Clone(words), "--help")...)
	require.Zero(t, code, "%v: %s", words, failed)
}

// The image is built where docker runs. Elsewhere its recipe is only read: its files exist, the
// program has its commands, and the user has no rights.
func TestTheImageOfDockerfile(t *testing.T) {
	text := strings.ReplaceAll(read(t, "..", "configs", "docker", "Dockerfile"), "\\\n", " ")
	stages := strings.Split(text, "\nFROM ")
	require.Len(t, stages, 3)
	mod := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "..", "go.mod"))
	require.True(t, strings.HasPrefix(stages[1], "golang:"+mod[1]+" "), "another Go than that of go.mod")
	last := map[string][]string{}
	for _, line := range strings.Split(stages[2], "\n") {
		word, rest, _ := strings.Cut(line, " ")
		last[word] = append(last[word], rest)
	}
	require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, last["USER"][0], "root needs no password")
	require.Equal(t, []string{"/state"}, last["VOLUME"])
	require.Equal(t, []string{`["/bot"]`}, last["ENTRYPOINT"])
	var check []string
	_, list, found := strings.Cut(last["HEALTHCHECK"][0], " CMD ")
	require.True(t, found)
	require.NoError(t, json.Unmarshal([]byte(list), &check))
	require.Equal(t, "/bot", check[0])
	accepts(t, check[1:]...)
	accepts(t, "version", "--licences")
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-].*)$`).FindAllStringSubmatch(text, -1) {
		sources := strings.Fields(line[1])
		for _, file := range sources[:len(sources)-1] {
			_, err := os.Stat(filepath.Join("..", file))
			require.NoError(t, err)
		}
	}
	if err := bottest.Short(t, "docker", "info").Run(); err != nil {
		t.Skip("no docker runs here: the recipe is read, the image is not built")
	}
	build := minutes(t, "docker", "build", "-f", "../configs/docker/Dockerfile", "-t", "tidemark-test", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	said, err := minutes(t, "docker", "run", "--rm", "tidemark-test", "backtest", "--no-files").CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "final equity")
}

func TestTheServicesOfCompose(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Command     []string
			NetworkMode string `yaml:"network_mode"`
			Volumes     []string
			Restart     string
			Healthcheck struct {
				Test    []string
				Disable bool
			}
		}
		Volumes map[string]any
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "..", "configs", "docker", "compose.yaml")), &file))
	require.Len(t, file.Services, 2)
	require.Equal(t, "service:exchange", file.Services["bot"].NetworkMode)
	for name, s := range file.Services {
		require.Equal(t, "unless-stopped", s.Restart, name)
		accepts(t, s.Command...)
		for _, word := range s.Command {
			if config, inside := strings.CutPrefix(word, "/configs/"); inside {
				require.FileExists(t, filepath.Join("..", "configs", config))
			}
		}
		for _, v := range s.Volumes {
			if source, _, _ := strings.Cut(v, ":"); !strings.HasPrefix(source, ".") {
				require.Contains(t, file.Volumes, source)
			}
		}
		if !s.Healthcheck.Disable {
			require.Equal(t, []string{"CMD", "/bot"}, s.Healthcheck.Test[:2], name)
			accepts(t, s.Healthcheck.Test[2:]...)
		}
	}
}

// A bot that crashes at night is restarted for as long as it takes; a mistake in its arguments or
// its config is not tried again.
func TestTheUnitOfSystemdRestartsWithoutEnd(t *testing.T) {
	unit := "\n" + read(t, "..", "configs", "tidemark.service")
	for _, line := range []string{"StartLimitIntervalSec=0", "Restart=on-failure", "RestartPreventExitStatus=64 78",
		"Type=notify", "WatchdogSec=60"} {
		require.Contains(t, unit, "\n"+line+"\n")
	}
}

func TestTheThreeWorkersOfCompose(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Build       struct{ Context, Dockerfile string }
			Command     []string
			NetworkMode string `yaml:"network_mode"`
			Deploy      struct{ Replicas int }
			Volumes     []string
			Healthcheck struct{ Disable bool }
			DependsOn   []string `yaml:"depends_on"`
		}
		Volumes map[string]any
	}
	decoder := yaml.NewDecoder(strings.NewReader(read(t, "..", "configs", "docker", "farm.compose.yaml")))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&file))
	sweep, worker := file.Services["sweep"], file.Services["worker"]
	require.Equal(t, 3, worker.Deploy.Replicas)
	require.Equal(t, "service:sweep", worker.NetworkMode, "there is no certificate: one machine alone")
	listen, join := slices.Index(sweep.Command, "--listen"), slices.Index(worker.Command, "--join")
	require.Equal(t, sweep.Command[listen+1], worker.Command[join+1])
	for _, s := range file.Services {
		require.FileExists(t, filepath.Join("..", "configs", "docker", s.Build.Context, s.Build.Dockerfile))
		accepts(t, s.Command...)
		source, _, _ := strings.Cut(s.Volumes[0], ":")
		require.Contains(t, file.Volumes, source)
	}
}

func TestTheRecipeOfARelease(t *testing.T) {
	var recipe struct {
		Before struct{ Hooks []string }
		Builds []struct {
			Main         string
			Goos, Goarch []string
			Env          []string
		}
		Archives []struct{ Files []any }
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "..", "configs", "goreleaser.yaml")), &recipe))
	commands := regexp.MustCompile(`go run \./cmd/bot ([a-z]+(?: --licences)?)`)
	for _, hook := range recipe.Before.Hooks {
		for _, c := range commands.FindAllStringSubmatch(hook, -1) {
			accepts(t, strings.Fields(c[1])...)
		}
	}
	for _, f := range recipe.Archives[0].Files {
		if pattern, plain := f.(string); plain {
			found, err := filepath.Glob(filepath.Join("..", pattern))
			require.NoError(t, err)
			require.NotEmpty(t, found, pattern)
		}
	}
	require.Equal(t, "./cmd/bot ./cmd/bot-farm", recipe.Builds[0].Main+" "+recipe.Builds[1].Main)
	for _, build := range recipe.Builds {
		require.Equal(t, []string{"linux", "darwin", "windows"}, build.Goos)
	}
	if !*cross {
		t.Skip("twelve builds take minutes: go test ./bot -run Release -cross")
	}
	for _, build := range recipe.Builds {
		for _, system := range build.Goos {
			for _, arch := range build.Goarch {
				c := minutes(t, "go", "build", "-o", filepath.Join(t.TempDir(), "bot"), "."+build.Main[1:])
				c.Dir, c.Env = "..", slices.Concat(os.Environ(), build.Env, []string{"GOOS=" + system,
					"GOARCH=" + arch})
				out, err := c.CombinedOutput()
				require.NoError(t, err, "%s/%s: %s", system, arch, out)
			}
		}
	}
}
