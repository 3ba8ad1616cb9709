//go:build linux

package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// counters are what a run reads before and after.
type counters struct {
	cpu     map[string]float64
	busy    float64 // of the machine
	written float64 // bytes of PostgreSQL's log
}

func (s *capacitySite) read() (c counters, err error) {
	c.cpu = map[string]float64{}
	for part, roots := range s.pids {
		for _, root := range roots {
			used, err := treeCPU(root)
			if part == clientPart {
				used, err = cpuTime(root)
			}
			if err != nil {
				return c, err
			}
			if strings.HasPrefix(part, gatewayPart) {
				part = gatewayPart
			}
			c.cpu[part] += used.Seconds()
		}
	}
	if c.busy, err = machineBusy(); err != nil || s.engines == nil {
		return c, err
	}
	if c.cpu[enginePart], err = engineCPU(s.engines.Redis.Addr); err != nil { // finer than ticks
		return c, err
	}
	err = s.db.QueryRowContext(s.ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')").Scan(&c.written)
	return c, err
}

// sizes has what is on disk, and the versions.
func (c *capacity) sizes(engines *clustertest.Engines) error {
	db, err := sql.Open("pgx", engines.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	var bytes, rows float64
	err = db.QueryRow(`SELECT (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('activity')), (SELECT count(*) FROM activity)`).Scan(&bytes, &rows)
	if err != nil {
		return err
	}
	c.Figures["bytes a row in PostgreSQL"] = bytes / max(1, rows)
	text, err := clustertest.Redis(engines.Redis.Addr, "INFO", "server")
	if err != nil {
		return err
	}
	_, text, _ = strings.Cut(text, "redis_version:")
	c.Engine, _, _ = strings.Cut("Redis "+text, "\r\n")
	if err := db.QueryRow("SHOW server_version").Scan(&c.Book); err != nil {
		return err
	}
	c.Book = "PostgreSQL " + c.Book
	return nil
}

// processor is what the kernel calls the cores.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, name, _ := strings.Cut(string(text), "model name")
	name, _, _ = strings.Cut(name, "\n")
	return strings.TrimLeft(name, "\t :")
}

// enginePIDs are the processes of the engines.
func enginePIDs(e *clustertest.Engines) (redis, postgres []int, err error) {
	text, err := clustertest.Redis(e.Redis.Addr, "INFO", "server")
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(text) {
		var pid int
		if _, err := fmt.Sscanf(line, "process_id:%d", &pid); err == nil {
			redis = append(redis, pid)
		}
	}
	file, err := os.ReadFile(filepath.Join(e.Postgres.Dir, "postmaster.pid"))
	if err != nil {
		return nil, nil, err
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	return redis, []int{pid}, err
}

// pinTree gives a process, its threads and its children those cores.
func pinTree(root int, on string, children bool) error {
	pids := []int{root}
	if children {
		var err error
		if pids, err = tree(root); err != nil {
			return err
		}
	}
	for _, pid := range pids {
		if err := pin(pid, on); err != nil {
			return err
		}
	}
	return nil
}

func pin(pid int, on string) error {
	if text, err := exec.Command("taskset", "-a", "-p", "-c", on, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w: %s", err, text)
	}
	return nil
}

func allCores() string { return "0-" + strconv.Itoa(runtime.NumCPU()-1) }

// machineBusy is how long the cores of the machine have worked, in seconds.
func machineBusy() (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)[1:] // user nice system idle iowait irq softirq steal
	const idle, wait, steal = 3, 4, 7
	ticks := 0.0
	for i, field := range fields[:steal+1] {
		if n, err := strconv.ParseFloat(field, 64); err == nil && i != idle && i != wait {
			ticks += n
		}
	}
	return ticks * tickLength().Seconds(), nil
}
