package bot

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// doorFlags say where a coordinator and its workers meet.
type doorFlags struct{ address, url, token, cert, key string }

// add adds the flags that a coordinator and a worker have in common.
func (f *doorFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "nats", "", "`URL` of a NATS server with JetStream where coordinator and workers meet")
	flags.StringVar(&f.token, "token-file", "", "`FILE` with the secret that lets workers join; chmod 600")
	flags.StringVar(&f.cert, "tls-cert", "", "`FILE` with the coordinator's certificate")
}

// door reads the flags. name is the flag of the address.
func (f *doorFlags) door(name string) (d machines.Door, err error) {
	if f.address != "" && f.url != "" {
		return d, config.Usagef("--%s and --nats do not go together", name)
	}
	d = machines.Door{Address: f.address, URL: f.url, Cert: f.cert, Key: f.key}
	if f.token != "" {
		secrets := config.Secrets{Getenv: func(string) string { return "" }}
		secret, err := secrets.Read(nil, "token", "", f.token, "")
		if err != nil {
			return d, config.Usagef("--token-file: %w", err)
		}
		d.Token = secret.Text
	}
	return d, nil
}

// farmProgram is the program that has a Farm.
const farmProgram = "bot-farm"

// handOver lets bot-farm run this command in the place of this program. It returns only an error.
func (a *app) handOver() error {
	name := farmProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := name
	if own, err := os.Executable(); err == nil {
		path = filepath.Join(filepath.Dir(own), name)
	}
	if _, err := os.Stat(path); err != nil {
		if path, err = exec.LookPath(name); err != nil {
			return fmt.Errorf("the program %s is missing, which joins other machines and serves assistants; put it "+
				"beside bot: "+
				"go build -o DIR ./cmd/bot ./cmd/bot-farm", farmProgram)
		}
	}
	if err := sameVersion(path, version.Of(debug.ReadBuildInfo())); err != nil {
		return err
	}
	return become(path, append([]string{path}, a.Args...))
}

// sameVersion refuses a program of Tidemark that was built from other code than this one.
func sameVersion(path, own string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the version of %s: %w", path, err)
	}
	if its := version.Of(info, true); its != own {
		return fmt.Errorf("%s is version %s, and this program is %s; build both from one checkout: "+
			"go build -o DIR ./cmd/bot ./cmd/bot-farm", path, its, own)
	}
	return nil
}

// program describes this program to other machines.
func (a *app) program() (p machines.Program, err error) {
	p = machines.Program{Code: version.Of(debug.ReadBuildInfo()), Arch: runtime.GOARCH, Strategies: map[string]string{}}
	if p.Code == "devel" || strings.HasSuffix(p.Code, "+changes") { // only the file tells such programs apart
		own, err := thisProgram()
		if err != nil {
			return p, err
		}
		p.Code += " " + own.SHA256[:12]
	}
	for _, k := range a.Definitions {
		info, err := describe(k)
		if err != nil {
			return p, err
		}
		text, err := json.Marshal(info)
		if err != nil {
			return p, err
		}
		p.Strategies[k.Name] = machines.HashOf(text).String()[:16]
	}
	return p, nil
}

// workerTask is the part of a Cargo that tells a worker its sweep.
type workerTask struct {
	Identity research.Identity    `json:"identity"`
	Name     string               `json:"name"` // of the config
	Config   string               `json:"config"`
	Sets     []config.Override    `json:"sets"`
	Space    []research.Dimension `json:"space"`
	Series   []plan.SeriesHash    `json:"series"`
	Pieces   []shipment           `json:"pieces"` // of the candle store; none: the candles are made up
	Signals  []signalFile         `json:"signals,omitempty"`
	To       market.Time          `json:"to"`
}

// shipment is a record of the candle store by its content.
type shipment struct {
	candles.Piece
	Hash machines.Hash `json:"hash"`
}

// readyForWorkers checks that this program can coordinate, or hands over to the one that can.
func (a *app) readyForWorkers() error {
	if a.Farm == nil {
		return a.handOver()
	}
	a.Stderr = zerolog.SyncWriter(a.Stderr)
	return nil
}

// coordinate lets workers run the job's groups, where the flags say so.
func (a *app) coordinate(f *sweepFlags, s *search, job *research.Job) error {
	if !f.machines() {
		return nil
	}
	door, err := f.door("listen")
	if err != nil {
		return err
	}
	c := machines.Coordination{Door: door, Notice: func(text string) {
		if !f.json {
			fmt.Fprintln(a.Stderr, text)
		}
	}}
	if c.Program, err = a.program(); err != nil {
		return err
	}
	c.Load = func() (*machines.Cargo, error) { return cargoOf(s, job) }
	if job.Runner, err = a.Farm.Coordinate(c); err != nil {
		return config.Usagef("%w", err)
	}
	return nil
}

// cargoOf is the data that workers need for a job.
func cargoOf(s *search, job *research.Job) (*machines.Cargo, error) {
	source, err := s.config.Source.Portable()
	if err != nil {
		return nil, err
	}
	e := workerTask{Identity: job.Identity, Name: source.File, Config: source.Text, Sets: source.Overrides,
		Space: job.Space.Dimensions(), To: job.To}
	e.Identity.Method, e.Identity.Sets, e.Identity.Seed = job.Method, job.Sets, job.Seed
	e.Identity.Objective = job.Objective.String()
	asked := plan.AskedOf(s.candles)
	e.Series = asked.Hashes
	places := map[machines.Hash]candles.Piece{}
	if asked.Store != nil {
		err = asked.Store.Pieces(asked.Markets, func(p candles.Piece, record []byte) error {
			p.Key = append([]byte(nil), p.Key...)
			h := machines.HashOf(record)
			places[h], e.Pieces = p, append(e.Pieces, shipment{p, h})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	files := map[machines.Hash][]byte{}
	if e.Signals, err = shipSignals(s.config, job.Space, files); err != nil {
		return nil, err
	}
	text, err := json.Marshal(&e)
	if err != nil {
		return nil, err
	}
	id := machines.HashOf(text).String()[:16]
	folder := machines.HashOf([]byte(id + job.File)).String()[:8]
	return &machines.Cargo{ID: id, Sweep: filepath.Base(job.File), Plan: text,
		Folder: filepath.Join(filepath.Dir(job.File), ".farm-"+folder),
		Blob: func(h machines.Hash) (content []byte, err error) {
			if piece, is := files[h]; is {
				return piece, nil
			}
			p, is := places[h]
			if !is {
				return nil, machines.ErrNoBlob
			}
			err = asked.Store.Record(p, func(record []byte) error {
				content = append(content, record...)
				return nil
			})
			return content, err
		}}, nil
}

// machineName names this process for a person, and no other like it.
func machineName() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return fmt.Sprintf("%s-%d", cmp.Or(host, "worker"), os.Getpid())
}
