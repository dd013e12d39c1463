import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import yaml from "js-yaml";

const { lora_ranks, learning_rates, ...rest } = yaml.load(readFileSync("sft.yaml", "utf8"));
for (const lora_rank of lora_ranks)
  for (const learning_rate of learning_rates) {
    const name = `r${lora_rank}-lr${learning_rate}`;
    writeFileSync(`${name}.yaml`, yaml.dump({ ...rest, lora_rank, learning_rate, output_dir: `saves/${name}` }));
    execFileSync("llamafactory-cli", ["train", `${name}.yaml`], { stdio: "inherit" });
  }
