// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import io.chokepoint.analysis.batch.RunReader;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Rules are methods: as fields they would never run, and so never fail. */
@AnalyzeClasses(packages = "io.chokepoint.analysis", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static void coreIsPure(JavaClasses production) {
        classes()
                .that()
                .resideInAPackage("io.chokepoint.analysis..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.chokepoint.analysis..",
                        "java.lang..",
                        "java.util",
                        "java.util.function",
                        "java.util.stream",
                        "java.nio.charset",
                        "java.io",
                        "org.jspecify..")
                .because("the analysis must run, and be tested, without Flink, Kafka or ClickHouse")
                .check(production);
    }

    @ArchTest
    static void timeArrivesAsData(JavaClasses production) {
        noClasses()
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(System.class, "nanoTime")
                .because("a replayed trace must give the result of the live one")
                .check(production);
    }

    @ArchTest
    static void nothingIsDrawnByChance(JavaClasses production) {
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(Random.class)
                .orShould()
                .callMethod(Math.class, "random")
                .because("the same runs must give the same rows")
                .check(production);
    }

    @ArchTest
    static void nothingPrintsOrOpensFiles(JavaClasses production) {
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(File|Print|RandomAccess).*")
                .because("bytes come in and rows go out; the drivers own files, consoles and logs")
                .check(production);
    }

    /** A rule that checks nothing stays green for ever: classes that break it must turn it red. */
    @Test
    void theRulesFindWhatTheyForbid() {
        JavaClasses impure = new ClassFileImporter().importPackagesOf(RunReader.class);

        assertThatThrownBy(() -> coreIsPure(impure)).hasMessageContaining("org.junit");
        assertThatThrownBy(() -> timeArrivesAsData(impure)).hasMessageContaining("nanoTime");
        assertThatThrownBy(() -> nothingPrintsOrOpensFiles(impure)).hasMessageContaining("System.out");
        assertThatThrownBy(() ->
                        nothingIsDrawnByChance(new ClassFileImporter().importPackages("io.chokepoint.testkit.sim")))
                .hasMessageContaining("java.util.Random");
    }
}
