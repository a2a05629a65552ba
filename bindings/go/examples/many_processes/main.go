// Several processes add to one session at once; nothing is lost and nothing is there twice.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"varve"
)

const (
	workers = 4
	each    = 25
)

func main() {
	directory := "./memory"
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	run := start
	if len(os.Args) > 3 {
		run = func(directory string) error { return work(directory, os.Args[2], os.Args[3]) }
	}
	if err := run(directory); err != nil {
		log.Fatal(err)
	}
}

// start makes the session, runs this program again as its workers, and counts what they did.
func start(directory string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.CreateSession(nil)
	if err != nil {
		return err
	}
	defer session.Close()

	processes := make([]*exec.Cmd, workers)
	for number := range processes {
		processes[number] = exec.Command(os.Args[0], directory, session.ID(), fmt.Sprint("worker ", number))
		processes[number].Stderr = os.Stderr
		if err := processes[number].Start(); err != nil {
			return err
		}
	}
	for _, process := range processes {
		if err := process.Wait(); err != nil {
			return err
		}
	}
	count, err := session.Count(varve.Query{Types: []string{"observation"}})
	if err != nil {
		return err
	}
	report, err := session.Verify(nil)
	if err != nil {
		return err
	}
	fmt.Printf("%d entries of %d processes, intact: %t\n", count, workers, report.OK)
	return nil
}

// work adds entries. Other writers are waited for until the deadline.
func work(directory, sessionID, name string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.OpenSession(sessionID)
	if err != nil {
		return err
	}
	defer session.Close()

	deadline, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for number := range each {
		_, err := session.WithContext(deadline).Add(varve.Entry{
			Type: "observation", Content: fmt.Sprintf("%s saw number %d", name, number)})
		if err != nil {
			return err
		}
	}
	return nil
}
