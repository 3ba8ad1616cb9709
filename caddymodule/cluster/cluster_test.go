package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

func TestPasswordsOfAClusterMayHaveAnyCharacter(t *testing.T) {
	const password = `p@ss:/w%rd'\ ?#{}`
	t.Setenv("PASSWORD", password)
	t.Setenv("WHOLE", "valkeys://gw:p%40ss@10.0.0.5")
	t.Setenv("NODE", "GW-7")
	core, logs := observer.New(zapcore.WarnLevel)
	for _, dsn := range []string{
		"postgres://gw:{env.PASSWORD}@10.0.0.6:6000/gatehouse", "host=10.0.0.6 port=6000 user=gw dbname=gatehouse password={env.PASSWORD}",
		"host=10.0.0.6 port=6000 password='{env.PASSWORD}' user=gw dbname=gatehouse",
	} {
		c := &Cluster{Name: "prod", Valkey: []string{"valkeys://gw:{env.PASSWORD}@10.0.0.5:7000"}, Postgres: dsn, Node: "{env.NODE}"}
		built, err := c.build(zap.New(core))
		if err != nil {
			t.Fatalf("%s: %v", dsn, err)
		}
		got := built.cluster
		if e := got.Engine; e.Username != "gw" || e.Password != password || strings.Join(e.Addresses, " ") != "10.0.0.5:7000" || e.TLS == nil {
			t.Errorf("the engine is %+v", e)
		}
		address, err := postgres.ParseAddress(got.Database)
		if err != nil || address.Password != password || address.String() != "gw@10.0.0.6:6000/gatehouse" {
			t.Errorf("%s: %s, %v", dsn, address, err)
		}
		if got.Node != "gw-7" || strings.Contains(got.Configured, password) || strings.Join(built.secrets, "\n") != password+"\n"+password {
			t.Errorf("%+v, secrets %q", got, built.secrets)
		}
	}
	if logs.Len() != 0 {
		t.Errorf("warned of %v", logs.All())
	}
	whole := &Cluster{Name: "prod", Valkey: []string{"{env.WHOLE}"}, Postgres: "postgres://gw:plain@10.0.0.6/gatehouse"}
	built, err := whole.build(zap.New(core))
	if err != nil || built.cluster.Engine.Password != "p@ss" || strings.Join(built.cluster.Engine.Addresses, " ") != "10.0.0.5:6379" {
		t.Errorf("%+v, %v", built.cluster, err)
	}
	if warned := logs.All(); len(warned) != 1 || warned[0].ContextMap()["of"] != "cluster postgres" {
		t.Errorf("warned of %v", warned)
	}
}

// A file of a password is read again, for each connection.
func TestAChangedFileOfAClustersPasswordIsUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	c := &Cluster{
		Name: "prod", Valkey: []string{"valkey://gw:{file." + path + "}@main"}, Postgres: "postgres://gw:{file." + path + "}@10.0.0.6/gatehouse",
		Sentinel: &Sentinel{Master: "main", Addresses: []string{"10.0.0.5"}, Password: "{file." + path + "}"},
	}
	built, err := c.build(zap.NewNop())
	if err != nil || len(built.files) != 3 {
		t.Fatalf("%d files, %v", len(built.files), err)
	}
	now := time.Now()
	for _, f := range built.files {
		f.Follow(secret.Follow{Now: func() time.Time { return now }, Logger: zap.NewNop(), Changed: func(string, string) {}})
	}
	for _, password := range []string{"one", "tw@/o"} {
		write(password)
		now = now.Add(time.Minute)
		for what, read := range map[string]func() (string, error){
			"Valkey": built.cluster.Engine.ReadPassword, "the Sentinels": built.cluster.Engine.ReadSentinelPassword, "PostgreSQL": built.cluster.DatabasePassword,
		} {
			if got, err := read(); got != password || err != nil {
				t.Errorf("the password of %s is %q, %v", what, got, err)
			}
		}
	}
}

func TestSentinelsHaveALoginOfTheirOwn(t *testing.T) {
	t.Setenv("PASSWORD", "of the server")
	t.Setenv("SENTINEL_PASSWORD", "of the sentinels")
	c := &Cluster{
		Name: "prod", Valkey: []string{"valkey://:{env.PASSWORD}@main"}, Postgres: "postgres://10.0.0.6/gatehouse",
		Sentinel: &Sentinel{Master: "main", Addresses: []string{"10.0.0.5", "10.0.0.6:26380", "[2001:db8::7]"}, User: "watcher", Password: "{env.SENTINEL_PASSWORD}"},
	}
	built, err := c.build(zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	e := built.cluster.Engine
	if e.Sentinel != "main" || e.Username != "" || e.Password != "of the server" || e.SentinelUsername != "watcher" || e.SentinelPassword != "of the sentinels" ||
		strings.Join(e.Addresses, " ") != "10.0.0.5:26379 10.0.0.6:26380 [2001:db8::7]:26379" || e.TLS != nil {
		t.Errorf("%+v", e)
	}
}

func TestAHalfOfAClientCertificateIsNamed(t *testing.T) {
	for _, half := range []EngineTLS{{ClientCert: "cert.pem"}, {ClientKey: "key.pem"}} {
		if _, err := half.build(); err == nil || err.Error() != "client_cert and client_key: give both, or none" {
			t.Errorf("%+v: %v", half, err)
		}
	}
}
