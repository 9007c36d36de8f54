package plan

import (
	"crypto/x509"
	"errors"
	"maps"
	"net/netip"
	"os"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/door"
	"github.com/tidemark-trading/tidemark/bot/host"
)

// Door is how signals come to a live bot by HTTP.
type Door struct {
	Sources     []door.Source // without their Sender
	Allow       []netip.Prefix
	Certificate *host.Certificate
	Clients     *door.Clients
}

// readDoor checks the door of signals and reads its secrets.
func (p *Live) readDoor(getenv func(string) string) (err error) {
	s := &p.Config.Signals.Door
	if p.Door.Allow, err = s.Check(); err != nil {
		return err
	}
	path := []string{"signals", "door"}
	if s.Listen != "" && s.TLSCert != "" {
		if p.Door.Certificate, err = host.NewCertificate(s.TLSCert, s.TLSKey); err != nil {
			return config.At(config.Join(path, "tls_cert"), err)
		}
	}
	if s.ClientCA != "" {
		p.Door.Clients = &door.Clients{Roots: x509.NewCertPool(), Subject: s.ClientSubject}
		text, err := os.ReadFile(s.ClientCA)
		if err == nil && !p.Door.Clients.Roots.AppendCertsFromPEM(text) {
			err = errors.New("it has no certificate; want PEM")
		}
		if err != nil {
			return config.At(config.Join(path, "client_ca"), err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Signals.Sources)) {
		if p.Config.Signals.Sources[name].Live != config.LiveDoor {
			continue
		}
		one, err := p.doorSource(name, getenv)
		if err != nil {
			return err
		}
		p.Door.Sources = append(p.Door.Sources, one)
	}
	return nil
}

// doorSource reads the secret of a source.
func (p *Live) doorSource(name string, getenv func(string) string) (one door.Source, err error) {
	s := p.Config.Signals.Sources[name]
	at := []string{"signals", name}
	secrets := &config.Secrets{Getenv: getenv}
	key, file, what := "path_file", s.PathFile, "path"
	if s.SecretFile != "" {
		key, file, what = "secret_file", s.SecretFile, "secret"
	}
	if s.PathFile == "" == (s.SecretFile == "") {
		return one, config.Keyf(at, "want path_file, a file with a secret path, or secret_file, a file with a secret "+
			"for signatures; one of the two")
	}
	one.Name = name
	one.Secret, err = host.NewFresh(func() (secret door.Secret, err error) {
		found, err := secrets.Read(at, what, "", file, "")
		switch {
		case err != nil:
			return secret, err
		case s.SecretFile != "":
			secret.Key, err = door.ParseKey(found.Text)
		default:
			secret.Path, err = door.ParsePath(found.Text)
		}
		return secret, config.At(config.Join(at, key), err)
	}, file)
	if err != nil {
		return one, err
	}
	own, _, _ := one.Secret.Latest()
	for _, other := range p.Door.Sources {
		if theirs, _, _ := other.Secret.Latest(); theirs.Path == own.Path && slices.Equal(theirs.Key, own.Key) {
			return one, config.Keyf(config.Join(at, key),
				"it is the secret of %s too; the door could not tell them apart", other.Name)
		}
	}
	return one, nil
}
