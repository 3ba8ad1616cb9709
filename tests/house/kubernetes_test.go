package house

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.yaml.in/yaml/v3"
)

// probe is how Kubernetes asks a container.
type probe struct {
	HTTPGet struct {
		Path string
		Port string
	} `yaml:"httpGet"`
	PeriodSeconds    int `yaml:"periodSeconds"`
	FailureThreshold int `yaml:"failureThreshold"`
}

// manifest is what the tests read of an object.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string `yaml:"stringData"`
	Spec     struct {
		Ports []struct {
			Name       string
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
		Template struct{ Spec podSpec }
	}
}

type podSpec struct {
	TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []struct {
		Args []string
		Env  []struct{ Name string }
		From []struct {
			SecretRef struct{ Name string } `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Ports []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		Readiness probe `yaml:"readinessProbe"`
		Liveness  probe `yaml:"livenessProbe"`
		Startup   probe `yaml:"startupProbe"`
		Mounts    []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name   string
		Secret struct {
			SecretName string `yaml:"secretName"`
		}
	}
}

// manifests reads the objects by kind and name. An unknown kind, or one that is there twice, fails.
func manifests(t *testing.T) map[string]manifest {
	t.Helper()
	text, err := os.ReadFile("../../docs/deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("UNTESTED on a cluster")) {
		t.Error("the manifest does not say that it was not run")
	}
	versions := map[string]string{"Secret": "v1", "Service": "v1", "Deployment": "apps/v1", "PodDisruptionBudget": "policy/v1"}
	found := map[string]manifest{}
	for reader := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var node yaml.Node
		err := reader.Decode(&node)
		if errors.Is(err, io.EOF) {
			return found
		}
		var m manifest
		var header struct {
			APIVersion string `yaml:"apiVersion"`
		}
		if err = errors.Join(err, node.Decode(&m), node.Decode(&header)); err != nil {
			t.Fatal(err)
		}
		name := m.Kind + " " + m.Metadata.Name
		if _, twice := found[name]; twice || versions[m.Kind] != header.APIVersion || m.Kind == "" {
			t.Errorf("%s of %s is unknown or there twice", name, header.APIVersion)
		}
		found[name] = m
	}
}

// The ports, probes, variables and files of the manifest are those of the Caddyfile in it.
func TestTheKubernetesManifestFitsItsCaddyfile(t *testing.T) {
	objects := manifests(t)
	pod := objects["Deployment gatehouse"].Spec.Template.Spec
	if len(objects) != 6 || len(pod.Containers) != 1 {
		t.Fatalf("%d objects, %d containers", len(objects), len(pod.Containers))
	}
	container, text := pod.Containers[0], objects["Secret gatehouse-config"].Data["Caddyfile"]
	if got := string(caddyfile.Format([]byte(text))); got != text {
		t.Errorf("caddy fmt would change the Caddyfile to\n%s", got)
	}
	known := map[string]string{"POD_NAME": "gatehouse-6d4cf56db6-x7k2p"}
	for _, from := range container.From {
		for name, value := range objects["Secret "+from.SecretRef.Name].Data {
			known[name] = value
		}
	}
	for _, e := range container.Env {
		if e.Name == "POD_NAME" {
			t.Setenv(e.Name, known[e.Name])
		}
	}
	for _, match := range envPlaceholder.FindAllStringSubmatch(text, -1) {
		if known[match[1]] == "" {
			t.Errorf("no Secret has %s", match[1])
		}
		t.Setenv(match[1], known[match[1]])
	}
	config, addresses := loadedManifest(t, text)
	ports := map[string]bool{}
	for _, p := range container.Ports {
		ports[p.Name] = true
		if !slices.Contains(addresses, p.ContainerPort) {
			t.Errorf("nothing of the Caddyfile listens at the port %s, %d: %v", p.Name, p.ContainerPort, addresses)
		}
	}
	for name, p := range map[string]probe{"/readyz": container.Readiness, "/healthz": container.Liveness, " /healthz": container.Startup} {
		if p.HTTPGet.Path != strings.TrimSpace(name) || p.HTTPGet.Port != "health" || p.PeriodSeconds == 0 || p.FailureThreshold == 0 {
			t.Errorf("a probe is %+v", p)
		}
	}
	if !strings.Contains(text, "http://:8081 {\n\tgatehouse_health\n}") {
		t.Error("the port of the probes does not answer them")
	}
	if !strings.Contains(text, "\n\tgatehouse_console\n\tgatehouse\n}") {
		t.Error("no site has the console, with the routes that it calls")
	}
	exposed := map[int]string{}
	for _, name := range []string{"Service gatehouse", "Service gatehouse-metrics"} {
		for _, p := range objects[name].Spec.Ports {
			if exposed[p.Port] = p.TargetPort; !ports[p.TargetPort] {
				t.Errorf("%s leads to the port %q, which the container has not", name, p.TargetPort)
			}
		}
	}
	if exposed[443] != "https" || exposed[5900] != "vnc" {
		t.Errorf("exposed are %v", exposed)
	}
	grace := time.Duration(config.grace) + time.Duration(config.delay)
	if most := time.Duration(pod.TerminationGracePeriodSeconds) * time.Second; grace == 0 || most <= grace {
		t.Errorf("Kubernetes kills after %v, and the Caddyfile needs %v", most, grace)
	}
	if !pod.SecurityContext.RunAsNonRoot {
		t.Error("it runs as root")
	}
	checkMounts(t, pod, text)
}

// checkMounts checks that each file of the Caddyfile and of the arguments is below a mount.
func checkMounts(t *testing.T, pod podSpec, text string) {
	t.Helper()
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	var mounted []string
	for _, m := range pod.Containers[0].Mounts {
		if !volumes[m.Name] {
			t.Errorf("there is no volume %s", m.Name)
		}
		mounted = append(mounted, m.MountPath)
	}
	for _, path := range append(documentedPath.FindAllString(text, -1), pod.Containers[0].Args[2]) {
		if !slices.ContainsFunc(mounted, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
			t.Errorf("%s is in no volume", path)
		}
	}
}

// timing is how long a stop of a configuration takes.
type timing struct{ grace, delay caddy.Duration }

// loadedManifest validates the Caddyfile as it is, with a certificate of its own, and returns the ports
// of all its servers.
func loadedManifest(t *testing.T, text string) (of timing, ports []int) {
	t.Helper()
	dir := t.TempDir()
	writeCertificate(t, dir, "ai.example.com", "console.example.com", "*.vnc.example.com")
	text = strings.NewReplacer("/etc/gatehouse/tls", dir, "/var/lib/gatehouse", dir).Replace(text)
	raw, err := adaptText(text)
	if err != nil {
		t.Fatal(err)
	}
	validDocument(t, "kubernetes.yaml", text)
	var config struct {
		Apps struct {
			HTTP struct {
				Servers       map[string]struct{ Listen []string }
				GracePeriod   caddy.Duration `json:"grace_period"`
				ShutdownDelay caddy.Duration `json:"shutdown_delay"`
			}
			Layer4 struct {
				Servers map[string]struct{ Listen []string }
			}
		}
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	for _, servers := range []map[string]struct{ Listen []string }{config.Apps.HTTP.Servers, config.Apps.Layer4.Servers} {
		for _, s := range servers {
			for _, listen := range s.Listen {
				address, err := caddy.ParseNetworkAddress(listen)
				if err != nil {
					t.Fatal(err)
				}
				ports = append(ports, int(address.StartPort))
			}
		}
	}
	return timing{config.Apps.HTTP.GracePeriod, config.Apps.HTTP.ShutdownDelay}, ports
}

// writeCertificate writes a certificate for the names that is signed by its own key.
func writeCertificate(t *testing.T, dir string, names ...string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: names}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	for name, block := range map[string]pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&block), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
