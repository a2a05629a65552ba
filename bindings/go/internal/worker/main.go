// Adds entries to a session and prints the id of each one once it was acknowledged.
//
//	worker DIRECTORY SESSION PREFIX COUNT [FIRST]
//
// Entry N, from FIRST or 0 on, has the id PREFIX-N and the content "PREFIX counts to N ☕". That it
// is there already counts as acknowledged: a worker that was killed is started again at the first
// entry that it did not tell of.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"

	"varve"
)

func main() {
	if len(os.Args) < 5 {
		log.Fatal("usage: worker DIRECTORY SESSION PREFIX COUNT [FIRST]")
	}
	if err := work(os.Args[1], os.Args[2], os.Args[3], append(os.Args[4:], "0")); err != nil {
		log.Fatal(err)
	}
}

func work(directory, id, prefix string, numbers []string) error {
	count, err := strconv.Atoi(numbers[0])
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(numbers[1])
	if err != nil {
		return err
	}
	store, err := varve.Open(directory, `{"concurrency": {"lock_timeout_ms": 60000}}`)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.OpenSession(id)
	if err != nil {
		return err
	}
	defer session.Close()
	for number := first; number < count; number++ {
		entry := varve.Entry{ID: fmt.Sprintf("%s-%d", prefix, number), Type: "observation",
			Content: fmt.Sprintf("%s counts to %d ☕", prefix, number)}
		if _, err := session.Add(entry); err != nil && !errors.Is(err, varve.ErrAlreadyExists) {
			return err
		}
		fmt.Println(entry.ID) // not buffered
	}
	return nil
}
